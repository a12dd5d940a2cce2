// The test of a model before it is trained: it passes for every cell and task, finds a parameter that nobody
// uses, and leaves no trace.
#include <gtest/gtest.h>

#include "autograd/functions.h"
#include "lm/tasks/classification.h"
#include "lm/tasks/language_modelling.h"
#include "lm/tasks/multi_task.h"
#include "lm/tasks/question_answering.h"
#include "lm/tasks/skip_thought.h"
#include "lm/tasks/speech.h"
#include "nn/cells/lstm.h"
#include "tests/nn/settings.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

/// A model of a task's settings, which reads a made-up text.
std::unique_ptr<Module> with_some_text(Task& task, int64_t V = 50) {
  std::vector<int64_t> sizes = task.assumed_sizes(V);
  task.assume(sizes);
  return task.make_model(sizes, 1, Device::cpu);
}

template <class Made>
Made small(const std::string& cell) {
  Made task;
  task.settings.model.cell = cell;
  task.settings.model.embedding = 4;
  task.settings.model.hidden = 6;
  if (traits_of(cell).recurrent_weights) task.settings.model.regularization.weight_drop = 0.5;
  return task;
}

LanguageModellingTask small_language_model(const std::string& cell) {
  LanguageModellingTask task;
  LanguageModelOptions& options = task.settings.model;
  options.cell = cell;
  set(options, "embedding=6 hidden=[6,6] dropout=0.5 embedding_dropout=0.5 variational=true");
  options.regularization = {.dropout = 0.3, .zoneout = 0.2};
  if (traits_of(cell).recurrent_weights) options.regularization.weight_drop = 0.5;
  if (!traits_of(cell).reads_h) options.regularization.dropout = 0;
  task.settings.train.batches.batch = 3;
  task.settings.train.batches.chunks.length = 8;
  return task;
}

/// The message of the error for a task, up to its first colon.
std::string missed(Task& task, Module& model) {
  const std::string text = error_of<Error>([&] { task.check_gradients(model); });
  return text.substr(0, text.find(':'));
}

/// EXPECT that the test passes, if its states begin with zeros: for all cells but one, whose U h of the first
/// step is 0, and so are W x * U h and all states.
void expect_passes_from_zeros(const std::string& cell, Task& task, int64_t V = 50) {
  const auto model = with_some_text(task, V);
  if (cell == "mi_rnn_simple")
    EXPECT_THROW(task.check_gradients(*model), Error);
  else
    EXPECT_NO_THROW(task.check_gradients(*model));
}

class GradientsOfCell : public testing::TestWithParam<std::string> {};

TEST_P(GradientsOfCell, ReachAllOfALanguageModel) {
  const auto expect_passes = [](const LanguageModelOptions& options, int64_t length = 8, int64_t V = 50) {
    LanguageModellingTask task = small_language_model(options.cell);
    task.settings.model = options;
    task.settings.train.batches.chunks.length = length;
    if (options.trained_initial_states) return expect_passes_from_zeros(options.cell, task, V);
    const auto model = with_some_text(task, V);
    EXPECT_NO_THROW(task.check_gradients(*model));
  };
  LanguageModelOptions options = small_language_model(GetParam()).settings.model;
  expect_passes(options);
  expect_passes(options, 8, 2);
  expect_passes(options, 1);
  options.trained_initial_states = true;
  expect_passes(options);
  options.tied = true;
  expect_passes(options);
  options.experts = 3;
  options.latent_dropout = 0.5;
  expect_passes(options);
  set(options, "experts=1 latent_dropout=0 tied=false embedding=0 embedding_dropout=0");
  expect_passes(options);
  options.embedding = 6;
  options.output = OutputKind::adaptive;
  options.adaptive = {.cutoffs = {2, 10, 48}, .divisor = 1};
  expect_passes(options);
  options.output = OutputKind::softmax;
  options.adaptive = {};
  options.output_layers = {5};
  options.major_ratio = {0.5, 0.5};
  expect_passes(options);
}

TEST_P(GradientsOfCell, ReachAllOfOtherModels) {
  for (const Summary summary : {Summary::last, Summary::mean, Summary::max})
    for (const bool bidirectional : {false, true}) {
      auto task = small<ClassificationTask>(GetParam());
      task.settings.train.batch = 4;
      task.settings.model.layers = 2;
      task.settings.model.dropout = 0.3;
      task.settings.model.summary = summary;
      task.settings.model.bidirectional = bidirectional;
      expect_passes_from_zeros(GetParam(), task);
    }
  auto reader = small<QuestionAnsweringTask>(GetParam());
  reader.settings.train.batch = 4;
  reader.settings.questions.document_words = 20;
  expect_passes_from_zeros(GetParam(), reader);
}

MultiTaskLearning small_translators(const std::string& cell) {
  MultiTaskLearning task;
  TranslationSettings& settings = task.settings.translation;
  settings.model.cell = cell;
  settings.model.embedding = 4;
  settings.model.hidden = 6;
  settings.model.dropout = 0.3;
  settings.data.pairs.max_length = 6;
  settings.train.batches.order.batch = 4;
  // The last language is written, but never from a source.
  task.settings.tasks = {{.name = "1", .source = "a", .target = "b"},
                         {.name = "2", .source = "b", .target = "b"},
                         {.name = "3", .target = "b", .ratio = 0.001},
                         {.name = "4", .target = "c", .ratio = 0.001}};
  return task;
}

TEST_P(GradientsOfCell, ReachAllOfSharedTranslators) {
  for (const Score attention : {Score::none, Score::general}) {
    MultiTaskLearning task = small_translators(GetParam());
    EncoderDecoderOptions& options = task.settings.translation.model;
    if (traits_of(options.cell).recurrent_weights) options.regularization.weight_drop = 0.5;
    options.attention = attention;
    expect_passes_from_zeros(GetParam(), task);
  }
}

INSTANTIATE_TEST_SUITE_P(EveryCell, GradientsOfCell, testing::ValuesIn(cell_names()),
                         [](const auto& instance) { return instance.param; });

TEST(Gradients, ReachAllOfASkipThoughtModelAndOfARecogniser) {
  auto thought = small<SkipThoughtTask>("gru");
  thought.settings.model.encoder = SkipEncoder::combine;
  thought.settings.train.batches.batch = 4;
  const auto model = with_some_text(thought);
  EXPECT_NO_THROW(thought.check_gradients(*model));
  auto speech = small<SpeechTask>("lstm");
  speech.settings.train.batch = 2;
  const auto recogniser = with_some_text(speech, 5);
  EXPECT_NO_THROW(speech.check_gradients(*recogniser));
}

/// An RNN that forgot to use its recurrent weights: a frozen tensor.
struct Forgetful : Cell {
  using Settings = SettingsOf<GateBiasSettings>;

  Forgetful(Module& parent, const std::string& suffix, const CellOptions& cell_options)
      : Cell(parent, suffix, cell_options),
        biases(*this, {{hidden()}}),
        z(*this, "weight_ih", {hidden()}, biases.all()),
        U(*this, "weight_hh", {hidden()}, hidden()) {}
  State step(StepInputs& x, const State&) override { return {tanh(x[z])}; }

  GateBiases biases;
  Projection z;
  Recurrent U;
};

TEST(Gradients, NameAParameterThatNobodyUses) {
  static const bool known = (add_cell<Forgetful>("forgetful"), true);
  ASSERT_TRUE(known);
  LanguageModellingTask task = small_language_model("lstm");
  task.settings.model.cell = "forgetful";
  task.settings.model.regularization = {};
  const auto model = with_some_text(task);
  EXPECT_EQ(missed(task, *model), "no gradient reaches rnn.weight_hh_l0, rnn.weight_hh_l1");
  EXPECT_EQ(sum_of_squares(model->gradients()), 0);
  MultiTaskLearning shared = small_translators("forgetful");
  shared.settings.translation.model.bridge = Bridge::copy;  // a trained one leads to the weight only
  const auto translators = with_some_text(shared);
  EXPECT_EQ(
      missed(shared, *translators),
      "no gradient reaches a.encoder.weight_hh_l0, a.encoder.weight_hh_l0_reverse, b.decoder.weight_hh_l0, "
      "b.encoder.weight_hh_l0, b.encoder.weight_hh_l0_reverse, c.decoder.weight_hh_l0");
}

/// An LSTM whose weight drop, while training, loses the way to the trained weight.
struct Cut : Lstm<> {
  Cut(Module& parent, const std::string& suffix, const CellOptions& cell_options)
      : Lstm(parent, suffix, cell_options) {}
  State step(StepInputs& x, const State& previous) override {
    if (!training()) return Lstm<>::step(x, previous);
    return lstm_state(add_linear(x.take(W), previous.h, static_cast<const Variable&>(U).detached()),
                      previous.c);
  }
};

TEST(Gradients, NameARecurrentWeightThatIsLostInTrainingOnly) {
  static const bool known = (add_cell<Cut>("cut"), true);
  ASSERT_TRUE(known);
  LanguageModellingTask task = small_language_model("lstm");
  task.settings.model.cell = "cut";
  const auto model = with_some_text(task);
  EXPECT_EQ(missed(task, *model), "no gradient reaches rnn.weight_hh_l0, rnn.weight_hh_l1");
  EXPECT_FALSE(model->training());
}

TEST(Gradients, LeaveNoTrace) {
  LanguageModellingTask task = small_language_model("bn_lstm");
  const auto model = with_some_text(task), other = with_some_text(task);
  task.check_gradients(*other);
  EXPECT_EQ(sum_of_squares(other->gradients()), 0);
  EXPECT_FALSE(other->training());
  const auto loss = [](Module& module) {
    auto& of = dynamic_cast<LanguageModel&>(module);
    of.set_training(true);
    of.begin_update({.seed = 3, .update = 1, .slice = {2, 0, 2}});
    const auto [output, next] = of.forward({tokens({1, 2, 3, 4}), 2, 2}, of.initial_states(2));
    return of.cross_entropy(output, tokens({3, 4, 5, 6})).total.value().item();
  };
  EXPECT_EQ(loss(*model), loss(*other));
  EXPECT_EQ(model->values().to_vector(), other->values().to_vector());
  for (size_t i = 0; i < model->buffers().size(); ++i)
    EXPECT_EQ(model->buffers()[i]->tensor().to_vector(), other->buffers()[i]->tensor().to_vector());
  task.check_gradients(*other);
  EXPECT_TRUE(other->training());
  EXPECT_EQ(other->statistics_momentum(), Module::training_statistics_momentum);
}

}  // namespace
}  // namespace rondo

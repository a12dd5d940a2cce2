// The test of the model before it is trained: it passes for every cell, finds a weight that nobody uses, and
// leaves no trace.
#include "lm/tasks/self_test.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "autograd/functions.h"
#include "nn/cells/lstm.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

LanguageModelOptions small_options(const std::string& cell) {
  LanguageModelOptions options;
  options.cell = cell;
  options.embedding = 6;
  options.hidden = {6, 6};
  options.dropout = 0.5;
  options.embedding_dropout = 0.5;
  options.variational = true;
  options.regularization = {.dropout = 0.3, .zoneout = 0.2};
  if (traits_of(cell).recurrent_weights) options.regularization.weight_drop = 0.5;
  if (!traits_of(cell).reads_h) options.regularization.dropout = 0;
  return options;
}

class SelfTestOfCell : public testing::TestWithParam<std::string> {};

TEST_P(SelfTestOfCell, Passes) {
  LanguageModelOptions options = small_options(GetParam());
  for (const int64_t V : {2, 50}) {
    LanguageModel model(options, V);
    EXPECT_NO_THROW(check_gradients_reach_all(model));
  }
  options.trained_initial_states = true;
  LanguageModel with_initial_states(options, 50);
  EXPECT_NO_THROW(check_gradients_reach_all(with_initial_states));
  options.tied = true;
  LanguageModel tied(options, 50);
  EXPECT_NO_THROW(check_gradients_reach_all(tied));
  options.experts = 3;
  options.latent_dropout = 0.5;
  LanguageModel mixture(options, 50);
  EXPECT_NO_THROW(check_gradients_reach_all(mixture));
  options.experts = 1;
  options.latent_dropout = 0;
  options.tied = false;
  options.embedding = 0;
  options.embedding_dropout = 0;
  LanguageModel one_hot(options, 50);
  EXPECT_NO_THROW(check_gradients_reach_all(one_hot));
  options.embedding = 6;
  options.embedding_dropout = 0;
  options.output = OutputKind::adaptive;
  options.adaptive = {.cutoffs = {2, 10, 48}, .divisor = 1};
  LanguageModel adaptive(options, 50);
  EXPECT_NO_THROW(check_gradients_reach_all(adaptive));
  options.output = OutputKind::softmax;
  options.adaptive = {};
  options.output_layers = {5};
  options.major_ratio = {0.5, 0.5};
  LanguageModel major_minor(options, 50);
  EXPECT_NO_THROW(check_gradients_reach_all(major_minor));
}

/// U h of the first step is 0, and so are W x * U h and all states: such a model learns nothing from a state
/// of zeros, and is to be refused.
bool is_dead_from_zeros(const std::string& cell) { return cell == "mi_rnn_simple"; }

/// EXPECT that the test of a model of these cells passes, if its states begin with zeros.
void expect_passes(const std::string& cell, const std::function<void()>& test, const std::string& which) {
  if (is_dead_from_zeros(cell))
    EXPECT_THROW(test(), Error) << which;
  else
    EXPECT_NO_THROW(test()) << which;
}

TEST_P(SelfTestOfCell, PassesForClassifiers) {
  for (const int64_t V : {2, 50})
    for (const Summary summary : {Summary::last, Summary::mean, Summary::max})
      for (const bool bidirectional : {false, true}) {
        SentenceClassifierOptions options;
        options.cell = GetParam();
        options.embedding = 3;
        options.hidden = 4;
        options.layers = 2;
        options.dropout = 0.3;
        options.summary = summary;
        options.bidirectional = bidirectional;
        if (traits_of(options.cell).recurrent_weights) options.regularization.weight_drop = 0.5;
        SentenceClassifier model(options, V, 2);
        expect_passes(
            GetParam(), [&] { check_gradients_reach_all(model); },
            fmt::format("{} {} {}", V, name_of(summary), bidirectional));
      }
}

TEST_P(SelfTestOfCell, PassesForReaders) {
  AttentiveReaderOptions options;
  options.cell = GetParam();
  options.embedding = 3;
  options.hidden = 4;
  options.layers = 2;
  AttentiveReader model(options, 50, 2);
  expect_passes(
      GetParam(), [&] { check_gradients_reach_all(model); }, "reader");
}

EncoderDecoderOptions small_translator(const std::string& cell) {
  EncoderDecoderOptions options;
  options.cell = cell;
  options.embedding = 4;
  options.hidden = 6;
  options.dropout = 0.3;
  return options;
}

// The last language is written, but never from a source.
const std::map<std::string, int64_t> languages = {{"a", 9}, {"b", 5}, {"c", 7}};
const std::vector<Route> routes = {{"a", "b"}, {"b", "b"}, {"", "b"}, {"", "c"}};

TEST_P(SelfTestOfCell, PassesForSharedEncoderDecoders) {
  EncoderDecoderOptions options = small_translator(GetParam());
  if (traits_of(options.cell).recurrent_weights) options.regularization.weight_drop = 0.5;
  for (const SourceAttention attention : {SourceAttention::none, SourceAttention::general}) {
    options.attention = attention;
    SharedEncoderDecoders model(options, languages, routes);
    expect_passes(
        GetParam(), [&] { check_gradients_reach_all(model); }, name_of(attention));
  }
}

INSTANTIATE_TEST_SUITE_P(EveryCell, SelfTestOfCell, testing::ValuesIn(cell_names()),
                         [](const auto& instance) { return instance.param; });

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

TEST(SelfTest, NamesATensorThatNobodyUses) {
  static const bool known = (add_cell<Forgetful>("forgetful"), true);
  ASSERT_TRUE(known);
  LanguageModelOptions options = small_options("forgetful");
  options.regularization = {};
  LanguageModel model(options, 50);
  const std::string text = error_of<Error>([&] { check_gradients_reach_all(model); });
  EXPECT_EQ(text.substr(0, text.find(':')), "no gradient reaches rnn.weight_hh_l0, rnn.weight_hh_l1");
  EXPECT_EQ(sum_of_squares(model.gradients()), 0);
}

TEST(SelfTest, NamesATensorOfOtherModelsThatNobodyUses) {
  static const bool known = (add_cell<Forgetful>("forgetful_2"), true);
  ASSERT_TRUE(known);
  const auto missed = [](const std::string& text) { return text.substr(0, text.find(':')); };
  SentenceClassifierOptions options;
  options.cell = "forgetful_2";
  SentenceClassifier classifier(options, 50, 3);
  EXPECT_EQ(missed(error_of<Error>([&] { check_gradients_reach_all(classifier); })),
            "no gradient reaches recurrent.weight_hh_l0, recurrent.weight_hh_l0_reverse");
  CtcModelOptions of_speech;
  of_speech.cell = "forgetful_2";
  of_speech.layers = 1;
  CtcModel recogniser(of_speech, 5, 4);
  EXPECT_EQ(missed(error_of<Error>([&] { check_gradients_reach_all(recogniser); })),
            "no gradient reaches recurrent.weight_hh_l0, recurrent.weight_hh_l0_reverse");
  EncoderDecoderOptions translator = small_translator("forgetful_2");
  translator.bridge = Bridge::copy;  // a trained one would lead to the decoder's recurrent weight only
  SharedEncoderDecoders shared(translator, languages, routes);
  EXPECT_EQ(
      missed(error_of<Error>([&] { check_gradients_reach_all(shared); })),
      "no gradient reaches a.encoder.weight_hh_l0, a.encoder.weight_hh_l0_reverse, b.decoder.weight_hh_l0, "
      "b.encoder.weight_hh_l0, b.encoder.weight_hh_l0_reverse, c.decoder.weight_hh_l0");
  EXPECT_EQ(sum_of_squares(shared.gradients()), 0);
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

TEST(SelfTest, NamesARecurrentWeightThatIsLostInTrainingOnly) {
  static const bool known = (add_cell<Cut>("cut"), true);
  ASSERT_TRUE(known);
  LanguageModelOptions options = small_options("cut");
  LanguageModel model(options, 50);
  const std::string text = error_of<Error>([&] { check_gradients_reach_all(model); });
  EXPECT_EQ(text.substr(0, text.find(':')), "no gradient reaches rnn.weight_hh_l0, rnn.weight_hh_l1");
  EXPECT_FALSE(model.training());
}

TEST(SelfTest, LeavesNoTrace) {
  LanguageModel model(small_options("bn_lstm"), 50), other(small_options("bn_lstm"), 50);
  check_gradients_reach_all(other);
  EXPECT_EQ(sum_of_squares(other.gradients()), 0);
  EXPECT_FALSE(other.training());
  const auto loss = [](LanguageModel& of) {
    of.set_training(true);
    of.begin_update({.seed = 3, .update = 1, .slice = {2, 0, 2}});
    const auto [output, next] = of.forward({tokens({1, 2, 3, 4}), 2, 2}, of.initial_states(2));
    return of.cross_entropy(output, tokens({3, 4, 5, 6})).total.value().item();
  };
  EXPECT_EQ(loss(model), loss(other));
  EXPECT_EQ(model.values().to_vector(), other.values().to_vector());
  for (size_t i = 0; i < model.buffers().size(); ++i)
    EXPECT_EQ(model.buffers()[i]->tensor().to_vector(), other.buffers()[i]->tensor().to_vector());
  check_gradients_reach_all(other);
  EXPECT_TRUE(other.training());
  EXPECT_EQ(other.statistics_momentum(), Module::training_statistics_momentum);
}

}  // namespace
}  // namespace rondo

// Several ranks, here processes with shared memory, against one process that computes the whole batch.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "lm/tasks/classification.h"
#include "lm/tasks/language_modelling.h"
#include "lm/tasks/multi_task.h"
#include "lm/tasks/question_answering.h"
#include "lm/tasks/skip_thought.h"
#include "lm/tasks/speech.h"
#include "lm/tasks/translation.h"
#include "nn/models/encoder_decoder.h"
#include "tests/lm/training/forked_ranks.h"
#include "tests/nn/settings.h"
#include "tests/temporary_folder.h"

namespace rondo::ranks_test {
namespace {

constexpr double tolerance = sizeof(real) == 8 ? 1e-10 : 1e-4;

/// The losses and the norms of the gradients of `steps` updates, and the figures of evaluations between
/// epochs.
std::vector<double> trained(Trainer& trainer, int steps) {
  std::vector<double> losses;
  for (int i = 0; i < steps; ++i) {
    if (!trainer.next_batch()) {
      const auto evaluated = trainer.evaluated_weights();
      const Scores scores = trainer.objective().evaluate({});
      trainer.validated(scores);
      losses.push_back(scores.value());
      trainer.begin_next_epoch();
      EXPECT_TRUE(trainer.next_batch());
    }
    trainer.step();
    const StepMetrics metrics = trainer.metrics();
    losses.push_back(metrics.mean_loss());
    losses.push_back(metrics.gradient_norm);
  }
  return losses;
}

void expect_near(const std::vector<double>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i)
    EXPECT_NEAR(actual[i], expected[i], tolerance * std::max(1.0, std::fabs(expected[i]))) << i;
}

/// EXPECT that ranks have the losses of one process, of which some lie after an evaluation.
template <class Make>
void expect_trains_as_one_process_does(Make make, int steps = 14) {
  const std::vector<double> expected = trained(make()->trainer, steps);
  ASSERT_GT(expected.size(), 2 * static_cast<size_t>(steps));
  for (const int64_t count : {2, 3, 4}) {
    SCOPED_TRACE(testing::Message() << count << " ranks");
    with_ranks(count, make, [&](auto& training) { expect_near(trained(training.trainer, steps), expected); });
  }
}

/// EXPECT that one process goes on where four ranks have saved their state.
template <class Make>
void expect_resumes_alone(Make make) {
  const TemporaryFolder folder;
  const auto alone = make();
  const std::vector<double> before = trained(alone->trainer, 10), after = trained(alone->trainer, 10);
  with_ranks(4, make, [&](auto& training) {
    expect_near(trained(training.trainer, 10), before);
    training.trainer.save(folder / "state");
    expect_near(trained(training.trainer, 10), after);
  });
  const auto resumed = make();
  resumed->trainer.load(folder / "state");
  expect_near(trained(resumed->trainer, 10), after);
}

TrainerOptions trainer_options() {
  return {.clip = 0.2,
          .optimizer = {.kind = OptimizerKind::adam},
          .schedule = {.kind = ScheduleKind::plateau},
          .averaging = Averaging::always};
}

/// A model of text with all that depends on the update or on the rows of a batch.
struct LanguageModelTraining {
  std::vector<int32_t> ids;
  LanguageModel model;
  LanguageModelling task;
  Trainer trainer;

  explicit LanguageModelTraining(int64_t micro_batch = 0)
      : ids(some_ids()),
        model(model_options(), 11, 1),
        task(model, task_options(micro_batch), ids, ids),
        trainer(task, trainer_options()) {}

  static std::vector<int32_t> some_ids() {
    std::vector<int32_t> ids(900);
    for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int32_t>((i * i + i / 3) % 11);
    return ids;
  }
  static LanguageModelOptions model_options() {
    LanguageModelOptions options;
    set(options,
        "cell=lstm layers=2 embedding=6 hidden=[7] dropout=0.3 weight_drop=0.2 "
        "embedding_dropout=0.1 experts=2 latent_dropout=0.2");
    return options;
  }
  static LanguageModellingOptions task_options(int64_t micro_batch) {
    LanguageModellingOptions options;
    options.batches.batch = 8;
    options.batches.chunks.length = 7;
    options.batches.chunks.deviation = 2;
    options.micro_batch = micro_batch;
    options.activation_regularization = 0.5;
    options.temporal_regularization = 0.3;
    return options;
  }
};

/// Sentences of 1 to 8 symbols below 9, each with its end symbol 0; the lengths of `seed` differ.
Sentences some_sentences(size_t count, size_t seed) {
  Sentences sentences;
  for (size_t i = 0; i < count; ++i) {
    std::vector<int32_t> ids(1 + (i * 5 + i * i * seed) % 8);
    for (size_t t = 0; t < ids.size(); ++t) ids[t] = static_cast<int32_t>(1 + (i * seed + t * t + i / 3) % 8);
    ids.push_back(0);
    sentences.add(ids);
  }
  return sentences;
}
constexpr int64_t symbols = 9;
/// What the symbols stand for.
const Vocabulary& letters() {
  static const Vocabulary vocabulary = speech_vocabulary({"", {{"", "", "abcdefgh", {}}}});
  return vocabulary;
}

Pairs some_pairs(size_t count, size_t seed) {
  return {.source = some_sentences(count, seed), .target = some_sentences(count, seed + 1)};
}

/// Small, with every random mask.
template <class Options>
Options small() {
  Options options;
  options.embedding = 5;
  options.hidden = 6;
  options.dropout = 0.3;
  options.trained_initial_states = true;
  options.regularization = {.dropout = 0.2, .zoneout = 0.1, .zoneout_memory = 0.1, .weight_drop = 0.1};
  return options;
}
template <class Options>
Options small_and_variational() {
  Options options = small<Options>();
  options.variational = true;
  options.layers = 2;
  return options;
}

struct TranslationTraining {
  Pairs train = some_pairs(45, 1);
  TranslationText valid{.pairs = some_pairs(7, 3), .target = &letters()};
  EncoderDecoder model;
  Translation task;
  Trainer trainer{task, trainer_options()};

  TranslationTraining(const EncoderDecoderOptions& options, const SentenceBatchOptions& order)
      : model(options, symbols, symbols),
        task(model, {.batches = {.order = order}, .label_smoothing = 0.1}, train, valid) {}
};

auto translation(const EncoderDecoderOptions& options, const SentenceBatchOptions& order) {
  return [=] { return std::make_unique<TranslationTraining>(options, order); };
}

struct ClassificationTraining {
  LabelledSentences train = labelled(40, 1), valid = labelled(7, 3);
  SentenceClassifier model;
  Classification task{model, {.batch = 6}, train, valid};
  Trainer trainer{task, trainer_options()};

  explicit ClassificationTraining(const SentenceClassifierOptions& options) : model(options, symbols, 3) {}

  static LabelledSentences labelled(size_t count, size_t seed) {
    LabelledSentences all;
    all.sentences = some_sentences(count, seed);
    for (size_t i = 0; i < count; ++i) all.labels.push_back(static_cast<int32_t>(i * i % 3));
    return all;
  }
};

struct QuestionTraining {
  Questions train = questions(40, 1), valid = questions(7, 3);
  AttentiveReader model{small_and_variational<AttentiveReaderOptions>(), symbols, 4};
  QuestionAnswering task{model, {.batch = 6}, train, valid};
  Trainer trainer{task, trainer_options()};

  /// About the entities of the symbols 5 to 8.
  static Questions questions(size_t count, size_t seed) {
    Questions all;
    all.documents = some_sentences(count, seed);
    all.questions = some_sentences(count, seed + 1);
    for (size_t i = 0; i < count; ++i) all.answers.push_back(i == 3 ? -1 : static_cast<int32_t>(i * i % 4));
    all.markers = {5, 6, 7, 8};
    all.entity_of = {-1, -1, -1, -1, -1, 0, 1, 2, 3};
    return all;
  }
};

struct SkipThoughtTraining {
  Triples train = triples(40, 1), valid = triples(7, 3);
  SkipThought model{options(), symbols};
  SkipThoughtObjective task{model, {.batches = {.batch = 30, .by = BatchBy::symbols}}, train, valid};
  Trainer trainer{task, trainer_options()};

  static Triples triples(size_t count, size_t seed) {
    Triples all;
    all.sentences = some_sentences(count, seed);
    for (int64_t i = 1; i + 1 < all.sentences.size(); ++i) all.middles.push_back(i);
    return all;
  }
  static SkipThoughtOptions options() {
    SkipThoughtOptions options;
    set(options, "embedding=5 hidden=8 dropout=0.3 encoder=combine");
    return options;
  }
};

struct SpeechTraining {
  static constexpr int64_t width = 3;
  inline static const FrameOptions frames{
      .filterbank = {.filters = width, .energy = false}, .deltas = 1, .stack = 2};
  Utterances train = utterances(30), valid = utterances(5);
  CtcModel model{options(), width_of(frames), symbols};
  SpeechRecognition task{model, {.batch = 7}, train, valid};
  Trainer trainer{task, trainer_options()};

  Utterances utterances(size_t count) const {
    Utterances all{.options = frames, .vocabulary = &letters()};
    for (size_t i = 0; i < count; ++i) {
      std::vector<float> numbers((10 + i * 7 % 13) * static_cast<size_t>(width));
      for (size_t j = 0; j < numbers.size(); ++j) numbers[j] = static_cast<float>((j * j + i) % 17) / 8 - 1;
      all.frames.push_back({width, std::move(numbers)});
      all.labels.push_back({1, 2 + static_cast<int32_t>(i % 3)});
      if (i % 2 == 0) all.labels.back().push_back(1);
      all.transcripts.emplace_back(all.labels.back().size(), 'a');
    }
    return all;
  }
  static CtcModelOptions options() { return small_and_variational<CtcModelOptions>(); }
};

/// A translation, and a language model of its target that shares the decoder.
struct MultiTaskTraining {
  Pairs first = some_pairs(20, 1), second = some_pairs(15, 2);
  TranslationText valid{.pairs = some_pairs(7, 3), .target = &letters()};
  SharedEncoderDecoders model{
      small<EncoderDecoderOptions>(), {{"aa", symbols}, {"bb", symbols}}, {{"aa", "bb"}, {"", "bb"}}};
  Translation translate{model.at(0), {.batches = {.order = {.batch = 6}}}, first, valid};
  Translation write{model.at(1), {.batches = {.order = {.batch = 5}}}, second, valid};
  MultiTaskObjective task{model, {{"translate", 1, &translate}, {"write", 0.7, &write}}};
  Trainer trainer{task, trainer_options()};
};

template <class Training>
auto made() {
  return [] { return std::make_unique<Training>(); };
}

TEST(Ranks, TrainALanguageModelAsOneProcessDoes) {
  const std::vector<double> expected = trained(made<LanguageModelTraining>()()->trainer, 30);
  for (const int64_t count : {2, 4})
    for (const int64_t micro_batch : {0, 1, 4}) {
      SCOPED_TRACE(testing::Message() << count << " ranks, micro-batches of " << micro_batch);
      with_ranks(
          count, [=] { return std::make_unique<LanguageModelTraining>(micro_batch); },
          [&](auto& training) { expect_near(trained(training.trainer, 30), expected); });
    }
}

TEST(Ranks, TrainATranslatorAsOneProcessDoes) {
  expect_trains_as_one_process_does(translation(small<EncoderDecoderOptions>(), {.batch = 10}));
  EncoderDecoderOptions options = small<EncoderDecoderOptions>();
  options.input_feeding = true;
  options.encoder_layers = options.decoder_layers = 2;
  options.variational = true;
  expect_trains_as_one_process_does(translation(options, {.batch = 10}));
}

// Batches of one sentence, too: ranks without a share add nothing.
TEST(Ranks, TrainOnBatchesThatAreSmallerThanTheirNumber) {
  EncoderDecoderOptions options = small<EncoderDecoderOptions>();
  options.attention = Score::none;
  const SentenceBatchOptions order{.batch = 12, .by = BatchBy::symbols};
  expect_trains_as_one_process_does(translation(options, order), 40);
}

TEST(Ranks, TrainAClassifierAsOneProcessDoes) {
  for (const Summary summary : {Summary::last, Summary::mean, Summary::max}) {
    SentenceClassifierOptions options = small_and_variational<SentenceClassifierOptions>();
    options.variational = summary == Summary::max;
    options.summary = summary;
    expect_trains_as_one_process_does([=] { return std::make_unique<ClassificationTraining>(options); });
  }
}

TEST(Ranks, TrainAReaderOfQuestionsAsOneProcessDoes) {
  expect_trains_as_one_process_does(made<QuestionTraining>());
}

TEST(Ranks, TrainSkipThoughtsAsOneProcessDoes) {
  expect_trains_as_one_process_does(made<SkipThoughtTraining>(), 25);
}

TEST(Ranks, TrainARecogniserAsOneProcessDoes) { expect_trains_as_one_process_does(made<SpeechTraining>()); }

TEST(Ranks, TrainSeveralTasksAsOneProcessDoes) {
  expect_trains_as_one_process_does(made<MultiTaskTraining>(), 20);
}

TEST(Ranks, AnyNumberOfThemResumesWhatAnotherHasSaved) {
  expect_resumes_alone(made<LanguageModelTraining>());
  expect_resumes_alone(translation(small<EncoderDecoderOptions>(), {.batch = 7}));
  expect_resumes_alone(translation(small<EncoderDecoderOptions>(), {.batch = 40, .by = BatchBy::symbols}));
  expect_resumes_alone(made<MultiTaskTraining>());
}

TEST(Ranks, DivideTheStreamsOfATextOrSaySo) {
  LanguageModelTraining training;
  EXPECT_THROW(training.task.divide(3, 0), InputError);
}

/// One of two that never meet.
struct LonelyRank : Ranks {
  LonelyRank() : Ranks(2, 0) {}
  void add_up(std::span<float>) override {}
  void add_up(std::span<double>) override {}
  void send(std::span<std::byte>) override {}
};

TEST(Ranks, DoNotDivideTheStatisticsOfABatch) {
  SentenceClassifierOptions options;
  set(options, "embedding=5 hidden=6 cell=bn_lstm");
  ClassificationTraining training(options);
  LonelyRank ranks;
  EXPECT_EQ(error_of([&] { training.trainer.join(ranks); }),
            "batch normalisation is over the rows of a whole batch, which cannot be divided among ranks");
}

}  // namespace
}  // namespace rondo::ranks_test

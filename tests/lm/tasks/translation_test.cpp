// Translation as a task: it learns, and says which figure decides. That it resumes:
// tests/lm/training/ranks_in_both_test.cpp; with the same bits: tests/lm/program/translator_test.cpp.
#include "lm/tasks/translation.h"

#include <algorithm>

#include "tests/lm/tasks/reversal_training.h"

namespace rondo {
namespace {

TEST(Translation, LearnsToReverse) {
  ReversalTraining it({.batches = {.order = {.batch = 20}}, .decides = SelectionMetric::bleu});
  EXPECT_LT(it.task.evaluate().value(), 20);
  const double first = it.advance(30);
  it.advance(300);
  EXPECT_LT(it.advance(30), first / 4);
  const Scores figure = it.task.evaluate();
  EXPECT_GT(figure.value(), 90) << "BLEU";
  EXPECT_EQ(figure.count, 60);
}

// The figure of an epoch's loss is that of the evaluation: nats per target symbol, end symbols included.
TEST(Translation, ReportsTheNatsOfItsTargets) {
  ReversalTraining it;
  it.task.begin_epoch(1);
  double sum = 0;
  int64_t scored = 0;
  for (Batch batch; it.task.next_batch(batch); scored += batch.scored) {
    const Loss loss = it.task.loss(0, tokens_of(batch.indices), {});
    double of_batch = 0;
    for (const real nats : loss.reported[0].to_vector()) of_batch += nats;
    EXPECT_NEAR(loss.minimised.value().item() * static_cast<double>(batch.scored), of_batch, 1e-3);
    sum += of_batch;
  }
  EXPECT_EQ(scored, it.task.scored_per_epoch());
  EXPECT_EQ(it.task.epoch_fraction(), 1);
  TranslationText training{.pairs = it.train, .target = &it.vocabularies.target};
  const Evaluation evaluation = evaluate_pairs(it.model, training);
  EXPECT_EQ(evaluation.symbols, scored);
  EXPECT_NEAR(sum, evaluation.nats_sum, 1e-4 * sum);
}

// Short translations of long sentences: it is the source that takes the memory.
TEST(Translation, IsEvaluatedInBatchesLimitedByBothSides) {
  ReversalTraining it;
  Pairs pairs;
  const std::vector<int32_t> source(100, 1), target = {1, 0};
  constexpr int64_t count = 20;
  for (int64_t i = 0; i < count; ++i) pairs.source.add(source), pairs.target.add(target);
  const TranslationText text{.pairs = pairs, .target = &it.vocabularies.target};
  int64_t before = 0, largest = 0;
  evaluate_pairs(it.model, text, [&](int64_t done) {
    largest = std::max(largest, done - before);
    before = done;
  });
  EXPECT_EQ(before, count);
  EXPECT_EQ(largest, 512 / (100 + 2));
}

TEST(Translation, SmoothsOnlyWhatItMinimises) {
  ReversalTraining plain, smoothed({.batches = {.order = {.batch = 20}}, .label_smoothing = 0.2});
  EXPECT_EQ(plain.task.evaluate().value(), smoothed.task.evaluate().value());
  std::vector<Loss> losses;
  for (ReversalTraining* it : {&plain, &smoothed}) {
    Batch batch;
    ASSERT_TRUE(it->task.next_batch(batch));
    losses.push_back(it->task.loss(0, tokens_of(batch.indices), {}));
  }
  EXPECT_EQ(losses[0].reported[0].to_vector(), losses[1].reported[0].to_vector());
  EXPECT_NE(losses[0].minimised.value().item(), losses[1].minimised.value().item());
}

TEST(TranslationScores, TheDecidingMetricIsFirstAndTheOthersAreBesideIt) {
  const Evaluation nats{.nats_sum = 6, .symbols = 4};
  const TranslationScores scores = scores_of({"a b c d e", "f"}, {"a b c d x", "f"}, BleuTokenization::none);
  const std::vector<std::tuple<SelectionMetric, std::string, double, bool, std::vector<std::string>>> cases =
      {{SelectionMetric::nats, "nats", 1.5, false, {"bits", "perplexity", "bleu", "chrf"}},
       {SelectionMetric::bleu, "bleu", scores.bleu, true, {"nats", "bits", "perplexity", "chrf"}},
       {SelectionMetric::chrf, "chrf", scores.chrf, true, {"nats", "bits", "perplexity", "bleu"}}};
  for (const auto& [decides, name, value, higher, beside] : cases) {
    const Scores figure = scores_of(decides, nats, scores, 2, 1, 7);
    EXPECT_EQ(figure.metrics.at(0).name, name);
    EXPECT_EQ(figure.value(), value);
    EXPECT_EQ(figure.higher_is_better, higher);
    EXPECT_NEAR(figure.loss(), higher ? -value : value, 1e-8);
    const Evaluation worse{.nats_sum = 6.1, .symbols = 4};
    EXPECT_GT(scores_of(decides, worse, scores, 2, 1, 7).loss(), figure.loss())
        << "nats decide between equals";
    std::vector<std::string> names;
    for (size_t i = 1; i < figure.metrics.size(); ++i) names.push_back(figure.metrics[i].name);
    EXPECT_EQ(names, beside);
    EXPECT_EQ(figure.count, 2);
    EXPECT_EQ(figure.unit, "sentences");
    EXPECT_EQ(figure.read, "greedy search");
    EXPECT_EQ(figure.seconds, 7);
  }
  EXPECT_EQ(scores_of(SelectionMetric::bleu, nats, scores, 2, 5, 7).read, "a beam of 5");
  EXPECT_NE(scores.bleu, scores.chrf);
}

TEST(TranslationScores, OfTheTaskAreThoseOfItsEvaluation) {
  ReversalTraining it(
      {.batches = {.order = {.batch = 20}}, .decides = SelectionMetric::chrf, .eval_beam = 3});
  it.advance(60);
  int64_t last = 0;
  const Scores figure = it.task.evaluate([&](int64_t done) { last = done; });
  EXPECT_EQ(last, 60);
  EXPECT_EQ(figure.read, "a beam of 3");
  const TranslationScores scores = scores_of(translations(it.model, it.valid, {.beam = 3}),
                                             it.valid.references, BleuTokenization::mteval_13a);
  EXPECT_EQ(figure.value(), scores.chrf);
  EXPECT_EQ(figure.at("nats"), evaluate_pairs(it.model, it.valid).nats());
  EXPECT_EQ(figure.at("bleu"), scores.bleu);
}

}  // namespace
}  // namespace rondo

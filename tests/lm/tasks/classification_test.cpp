// Classification as a task: what is learned, the figure.
#include "lm/tasks/classification.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lm/training/trainer.h"
#include "tests/lm/tasks/toy_sentences.h"

namespace rondo {
namespace {

TEST(Classification, LearnsWhetherASymbolOccurs) {
  const LabelledSentences train = toy(400, 1), valid = toy(100, 2);
  for (const Summary summary : {Summary::last, Summary::mean, Summary::max}) {
    SentenceClassifier model(small_classifier(summary), 5, 2);
    Classification task(model, {.batch = 20}, train, valid);
    EXPECT_EQ(task.scored_per_epoch(), 400);
    EXPECT_NEAR(task.evaluate().value(), 50, 15);
    Trainer trainer(task, {.optimizer = {.kind = OptimizerKind::adam, .learning_rate = 0.03}});
    for (int epoch = 0; epoch < 6; ++epoch) {
      while (trainer.next_batch()) trainer.step();
      trainer.begin_next_epoch();
    }
    const Scores scores = task.evaluate();
    EXPECT_EQ(scores.metrics.at(0).name, "accuracy");
    EXPECT_TRUE(scores.higher_is_better);
    EXPECT_GE(scores.value(), 97) << name_of(summary);
    EXPECT_LT(scores.at("nats"), 0.2) << name_of(summary);
  }
}

// One sentence at a time, by the probabilities that the model gives.
TEST(Classification, ScoresAreThoseOfSingleSentences) {
  const LabelledSentences text = toy(60, 3);
  SentenceClassifier model(small_classifier(Summary::max), 5, 2);
  const Scores scores = evaluate_on(model, text);
  int64_t correct = 0;
  double nats = 0;
  for (int64_t i = 0; i < text.size(); ++i) {
    const auto ids = text.sentences[i];
    const std::vector<real> z =
        model.logits(model.summary({tokens({ids.begin(), ids.end()}), std::ssize(ids), 1}))
            .value()
            .to_vector();
    const auto label = static_cast<size_t>(text.labels[static_cast<size_t>(i)]);
    correct += z[label] > z[1 - label];
    nats += std::log1p(std::exp(static_cast<double>(z[1 - label] - z[label])));
  }
  EXPECT_EQ(scores.count, 60);
  EXPECT_NEAR(scores.at("accuracy"), 100.0 * static_cast<double>(correct) / 60, 1e-9);
  EXPECT_NEAR(60 * scores.at("nats"), nats, 1e-4);
}

}  // namespace
}  // namespace rondo

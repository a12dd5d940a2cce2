// What the tensors of a classifier's training and of its evaluation are said to take, beside what they take.
#include "lm/program/classification_memory.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <random>

#include "lm/program/recipes.h"
#include "tensor/allocator.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

constexpr std::int32_t words = 1500, classes = 3;

/// Of 15 to 20 words and an end symbol.
LabelledSentences random_sentences(int count) {
  std::mt19937 engine(1);
  LabelledSentences all;
  for (int i = 0; i < count; ++i) {
    std::vector<std::int32_t> ids;
    for (unsigned t = 15 + engine() % 6; t > 0; --t)
      ids.push_back(1 + static_cast<std::int32_t>(engine() % words));
    ids.push_back(0);
    all.sentences.add(ids);
    all.labels.push_back(static_cast<std::int32_t>(engine() % classes));
  }
  return all;
}

Recipe classifier_recipe_with(const std::vector<std::string>& settings) {
  std::vector<Setting> parsed;
  for (const char* it : {"model.embedding=64", "model.hidden=128", "train.batch=64"})
    parsed.push_back(parse_setting(it));
  for (const std::string& it : settings) parsed.push_back(parse_setting(it));
  return resolve_recipe("classify-trec", parsed);
}

void expect_near(double measured, std::int64_t estimated, const std::string& which) {
  EXPECT_GT(measured / static_cast<double>(estimated), 0.75) << which << ": " << measured;
  EXPECT_LT(measured / static_cast<double>(estimated), 1.25) << which << ": " << measured;
}

TEST(MemoryOfClassification, IsWithinAQuarterOfTheEstimate) {
  const std::vector<std::vector<std::string>> cases{
      {},
      {"model.summary=last"},
      {"model.summary=mean", "model.dropout=0"},
      {"model.cell=gru", "model.forget_bias=0"},
      {"model.cell=rnn", "model.forget_bias=0", "model.layers=2"},
      {"model.bidirectional=false", "model.layers=2"},
      {"model.layers=3", "model.variational=true"},
      {"model.weight_drop=0.3", "model.zoneout=0.1"},
      {"train.batch=2000", "train.batch_by=symbols"},
      {"model.hidden=400", "model.embedding=300", "train.batch=10"}};
  const LabelledSentences sentences = random_sentences(400);
  for (const auto& settings : cases) {
    const std::string which = fmt::format("{}", fmt::join(settings, " "));
    const Recipe recipe = classifier_recipe_with(settings);
    const ClassificationRecipe& it = recipe.classification;
    const SentenceBatchSize size = largest_batch(it.task.batches, sentences, 1);
    const SentenceClassifier layout(it.model, words + 1, classes, std::nullopt);
    const std::int64_t estimated = classification_training_bytes(recipe, layout, size);

    const size_t before = memory_statistics(Device::cpu).bytes_in_use;
    const auto peak = [&] { return static_cast<double>(memory_statistics(Device::cpu).peak_bytes - before); };
    {
      reset_peak_bytes(Device::cpu);
      SentenceClassifier model(it.model, words + 1, classes);
      evaluate_classifier(model, sentences);
      expect_near(peak(), classification_evaluation_bytes(layout, size), "evaluation: " + which);
    }
    reset_peak_bytes(Device::cpu);
    SentenceClassifier model(it.model, words + 1, classes);
    Classification task(model, it.task, sentences, sentences);
    Trainer trainer(task, recipe.trainer);
    trainer.begin_next_epoch();
    while (trainer.next_batch()) trainer.step();
    expect_near(peak(), estimated, which);

    EXPECT_NO_THROW(check_classification_fits(recipe, layout, size, estimated));
    expect_contains(error_of([&] { check_classification_fits(recipe, layout, size, estimated - 1); }),
                    "train.batch");
  }
}

TEST(MemoryOfClassification, IsThatOfTheLargestBatch) {
  LabelledSentences sentences = random_sentences(40);
  const std::vector<std::int32_t> longest(70, 1);
  sentences.sentences.add(longest);
  sentences.labels.push_back(0);
  const SentenceBatchSize by_sentences = largest_batch({.batch = 8}, sentences, 1);
  EXPECT_EQ(by_sentences.sentences, 8);
  EXPECT_EQ(by_sentences.steps, 70);
  const Recipe recipe = classifier_recipe_with({});
  EXPECT_EQ(assumed_size(recipe.classification).sentences, 64);
  EXPECT_EQ(
      assumed_size(classifier_recipe_with({"train.batch=2000", "train.batch_by=symbols"}).classification)
          .sentences,
      2000 / 40);
}

}  // namespace
}  // namespace rondo

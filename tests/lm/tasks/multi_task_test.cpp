// A task over tasks: which one makes an update, and where their epochs end. That they resume:
// tests/lm/training/ranks_in_both_test.cpp.
#include "lm/tasks/multi_task.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

namespace rondo {
namespace {

/// A task whose batches are the numbers 0, 1, ... below a length, shifted by 100 times its epoch.
class Counting : public Objective {
 public:
  explicit Counting(int64_t length) : length_(length) {}
  Module& model() override { return model_; }
  void begin_epoch(int64_t epoch) override { epoch_ = epoch, position_ = 0; }
  bool next_batch(Batch& batch) override {
    if (position_ == length_) return false;
    batch.indices = {{static_cast<int32_t>(100 * epoch_ + position_++)}};
    batch.scored = 1;
    batch.kind = {3};
    return true;
  }
  Loss loss(int64_t, const std::vector<Tokens>&, RandomContext) override { return {}; }
  double epoch_fraction() const override {
    return static_cast<double>(position_) / static_cast<double>(length_);
  }
  int64_t scored_per_epoch() const override { return length_; }
  Scores evaluate(const std::function<void(int64_t)>&) override {
    return {.metrics = {{"length", static_cast<double>(length_)}}};
  }
  void save(StateWriter&, const std::string&) const override {}
  void load(const StateReader&, const std::string&) override {}

 private:
  Module model_;
  int64_t length_, epoch_ = 0, position_ = 0;
};

struct Counted {
  explicit Counted(uint64_t seed = 1, std::vector<double> ratios = {1, 0.5, 0.1}) {
    const std::vector<std::string> names = {"first", "second", "third"};
    for (size_t i = 0; i < ratios.size(); ++i) mixed.push_back({names[i], ratios[i], &tasks[i]});
    all = std::make_unique<MultiTaskObjective>(model, mixed, seed);
    all->begin_epoch(1);
  }
  /// The next updates, as {3 times the task's kind, and which task; number}; {-1, epoch} where an epoch of
  /// the reference begins.
  std::vector<std::pair<int64_t, int32_t>> updates(int count) {
    std::vector<std::pair<int64_t, int32_t>> result;
    while (count-- > 0) {
      Batch batch;
      if (!all->next_batch(batch)) {
        all->begin_epoch(++epoch);
        result.emplace_back(-1, epoch);
        EXPECT_TRUE(all->next_batch(batch));
      }
      result.emplace_back(3 * batch.kind.at(0) + batch.kind.at(1), batch.indices[0][0]);
      all->end_batch(++step);
    }
    return result;
  }

  Module model;
  Counting tasks[3] = {Counting(7), Counting(5), Counting(2)};
  std::vector<MixedTask> mixed;
  std::unique_ptr<MultiTaskObjective> all;
  int32_t epoch = 1;
  int64_t step = 0;
};

// Within four standard deviations of the expected counts.
TEST(MultiTaskChoice, HasTheMixingRatios) {
  const Counted it;
  constexpr int64_t steps = 20'000;
  int64_t counts[3] = {};
  for (int64_t step = 0; step < steps; ++step) ++counts[it.all->chosen(step)];
  const double expected[] = {1 / 1.6, 0.5 / 1.6, 0.1 / 1.6};
  for (size_t i = 0; i < 3; ++i) {
    const double deviation = std::sqrt(steps * expected[i] * (1 - expected[i]));
    EXPECT_NEAR(static_cast<double>(counts[i]), steps * expected[i], 4 * deviation) << i;
  }
}

TEST(MultiTaskChoice, DependsOnSeedAndStepAlone) {
  Counted one, same, other(2);
  one.updates(50);
  bool differs = false;
  for (int64_t step = 200; step-- > 0;) {  // in any order, wherever the data are
    EXPECT_EQ(one.all->chosen(step), same.all->chosen(step));
    differs |= one.all->chosen(step) != other.all->chosen(step);
  }
  EXPECT_TRUE(differs);
  EXPECT_EQ(Counted(1, {1}).all->chosen(5), 0);
}

TEST(MultiTaskEpochs, AreTheReferencesAndOthersBeginAgain) {
  Counted it;
  std::vector<int32_t> of[3];
  int64_t step = 0;
  for (const auto& [kind, number] : it.updates(300)) {
    if (kind == -1) {
      EXPECT_EQ(of[0].size() % 7, 0) << "all batches of the reference, and no more";
      EXPECT_EQ(of[0].size(), 7 * static_cast<size_t>(number - 1));
      continue;
    }
    EXPECT_EQ(kind / 3, 3) << "the task's kind";
    EXPECT_EQ(static_cast<size_t>(kind % 3), it.all->chosen(step++)) << "kinds of two tasks are two";
    of[kind % 3].push_back(number);
  }
  const size_t lengths[] = {7, 5, 2};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_GT(of[i].size(), 2 * lengths[i]);
    for (size_t j = 0; j < of[i].size(); ++j)
      EXPECT_EQ(of[i][j], static_cast<int32_t>(100 * (1 + j / lengths[i]) + j % lengths[i])) << i;
  }
}

TEST(MultiTask, HasTheFirstTasksMetricsAndThenThoseOfTheOthers) {
  Counted it;
  const Scores scores = it.all->evaluate({});
  std::vector<std::pair<std::string, double>> metrics;
  for (const Metric& metric : scores.metrics) metrics.emplace_back(metric.name, metric.value);
  const std::vector<std::pair<std::string, double>> expected = {
      {"length", 7}, {"second.length", 5}, {"third.length", 2}};
  EXPECT_EQ(metrics, expected);
  EXPECT_EQ(it.all->scored_per_epoch(), 11) << "7 of the first, and 0.6 of that of the others";
  it.tasks[0].begin_epoch(1);
  Batch batch;
  it.tasks[0].next_batch(batch);
  EXPECT_EQ(it.all->epoch_fraction(), 1 / 7.0);
}

}  // namespace
}  // namespace rondo

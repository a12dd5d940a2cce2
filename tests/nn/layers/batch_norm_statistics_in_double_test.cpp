// The population statistics of batch normalisation: what moves them, by how much, and which step uses which.
#include <algorithm>

#include "autograd/operators/arithmetic.h"
#include "nn/layers/normalization.h"
#include "tests/nn/cells/batch_norm_reference.h"

namespace rondo {
namespace {

using namespace batch_norm_reference;

void expect_near(const Tensor& actual, const std::vector<double>& expected, double tolerance = 1e-12) {
  ASSERT_EQ(actual.size(), std::ssize(expected));
  for (int64_t j = 0; j < actual.size(); ++j) ASSERT_NEAR(actual.data()[j], expected[j], tolerance) << j;
}

/// Runs batch after batch and holds the buffers to `rate`, a function of the share of the rows that a slot
/// has seen so far which are the batch's.
void expect_moved(Model& model, int batches, const Marks& valid, const std::function<double(double)>& rate) {
  struct Slot {
    std::vector<double> mean = std::vector<double>(4 * H, 0), variance = std::vector<double>(4 * H, 1);
    int seen = 0;
  };
  std::map<std::string, std::vector<Slot>> kept;
  for (int batch = 0; batch < batches; ++batch) {
    model.draw_input(100 + static_cast<uint64_t>(batch));
    model.run(valid);
    const StatisticsOfSteps steps = model.of_batches(valid);
    for (int64_t t = 0; t < T; ++t)
      for (const auto& [name, of_batch] : steps[t]) {
        kept[name].resize(slots);
        Slot& slot = kept[name][std::min(t, slots - 1)];
        const auto rows = static_cast<int>(std::ranges::count(valid[t], true));
        const double r = rate(static_cast<double>(rows) / (slot.seen += rows));
        for (size_t j = 0; j < of_batch.mean.size(); ++j) {
          slot.mean[j] += r * (of_batch.mean[j] - slot.mean[j]);
          slot.variance[j] += r * (of_batch.variance[j] - slot.variance[j]);
        }
      }
  }
  for (auto& [name, of_slots] : kept)
    for (int64_t slot = 0; slot < slots; ++slot) {
      Slot& it = of_slots[slot];
      const size_t width = name == "c" ? H : 4 * H;
      it.mean.resize(width), it.variance.resize(width);
      EXPECT_EQ(model.buffer("rows_seen_" + name).data()[slot], it.seen);
      expect_near(model.buffer("running_mean_" + name)[slot], it.mean);
      expect_near(model.buffer("running_variance_" + name)[slot], it.variance);
    }
}

TEST(BatchNormStatistics, MoveByOneTwentiethOnceTwentyBatchesAreSeen) {
  for (const Marks& valid : {all_valid, padded}) {
    Model model("bn_lstm");
    model.set_training(true);
    expect_moved(model, 25, valid, [](double share) { return std::max(0.05, share); });
  }
}

TEST(BatchNormStatistics, AreTheAverageOverRowsWhenEstimatedAnew) {
  Model model("bn_lstm");
  set_population(model);
  for (const Buffer* buffer : model.buffers()) buffer->reset();
  model.set_training(false);
  model.set_statistics_rate(0);
  EXPECT_FALSE(model.training());
  expect_moved(model, 25, padded, [](double share) { return share; });
}

TEST(BatchNormStatistics, StayAsTheyAreInEvaluation) {
  Model model("bn_lstm");
  set_population(model);
  const auto before = model.buffer("running_mean_hh").to_vector();
  model.run(all_valid);
  EXPECT_EQ(model.buffer("running_mean_hh").to_vector(), before);
  EXPECT_EQ(model.buffer("rows_seen_hh").to_vector(), std::vector<real>(slots, 1));
}

/// The outputs in evaluation, where each step t is normalised by the statistics of slot_of(t).
void expect_slots(Model& model, int64_t first_step, const std::function<int64_t(int64_t)>& slot_of) {
  StatisticsOfSteps population(T);
  for (int64_t t = 0; t < T; ++t)
    for (const std::string name : {"ih", "hh", "c"})
      population[t][name] = {model.buffer("running_mean_" + name)[slot_of(t)].to_vector(),
                             model.buffer("running_variance_" + name)[slot_of(t)].to_vector()};
  const auto result = model.run(all_valid, first_step);
  const auto expected = plain(model.numbers(), false, all_valid, &population);
  for (int64_t t = 0; t < T; ++t)
    for (int64_t i = 0; i < B * H; ++i)
      ASSERT_NEAR(result.h[t].value().data()[i], expected.h[t * B * H + i].real(), 1e-12) << "step " << t;
}

TEST(BatchNormStatistics, AreThoseOfTheStepSinceTheReset) {
  Model model("bn_lstm");
  set_population(model);
  expect_slots(model, 0, [](int64_t t) { return std::min<int64_t>(t, slots - 1); });
  expect_slots(model, 2, [](int64_t t) { return std::min<int64_t>(t + 2, slots - 1); });
}

TEST(BatchNormStatistics, AreReusedFromTheLastStepThatHasSome) {
  Model model("bn_lstm");
  set_population(model);
  for (const char* name : {"rows_seen_ih", "rows_seen_hh", "rows_seen_c"})
    for (int64_t slot = 2; slot < slots; ++slot) model.buffer(name).mutable_data()[slot] = 0;
  expect_slots(model, 0, [](int64_t t) { return std::min<int64_t>(t, 1); });
}

TEST(BatchNormStatistics, AreMeanZeroAndVarianceOneBeforeAnyBatch) {
  Model model("bn_lstm");
  for (const std::string name : {"ih", "hh", "c"}) {
    EXPECT_EQ(model.buffer("running_mean_" + name).to_vector(),
              std::vector<real>(slots * (name == "c" ? H : 4 * H), 0));
    EXPECT_EQ(model.buffer("running_variance_" + name).to_vector(),
              std::vector<real>(slots * (name == "c" ? H : 4 * H), 1));
  }
  expect_slots(model, 0, [](int64_t) { return 0; });
}

TEST(BatchNormStatistics, OfOneRowOrNoneAreThePopulations) {
  for (const int64_t rows : {0, 1}) {
    Model model("bn_lstm");
    const StatisticsOfSteps population = set_population(model);
    const auto before = model.buffer("running_variance_c").to_vector();
    Marks valid(T, std::vector<bool>(B, false));
    for (int64_t t = 0; t < T; ++t) valid[t][0] = rows == 1;
    model.set_training(true);
    const auto result = model.run(valid);
    const auto expected = plain(model.numbers(), false, valid, &population);
    for (int64_t t = 0; t < T; ++t)
      for (int64_t j = 0; j < H; ++j)
        ASSERT_NEAR(result.h[t].value().data()[j], expected.h[t * B * H + j].real(), 1e-12);
    EXPECT_EQ(model.buffer("running_variance_c").to_vector(), before);
    if (rows == 0) continue;
    Variable loss = sum(result.c);
    for (const Variable& h : result.h) loss = loss + sum(h);
    loss.backward();
    EXPECT_TRUE(all_finite(model.gradients()));
    EXPECT_GT(sum_of_squares(gradient_of(model, "gamma_c_l0")), 0);
  }
}

// Steps that share a slot: a row alone is normalised by what the next step moves.
TEST(BatchNormStatistics, MayMoveBeforeBackwardHasRun) {
  Model model("bn_lstm");
  model.set_training(true);
  Marks valid = all_valid;
  valid[slots] = {true, false, false, false};
  sum(model.run(valid).h.back()).backward();
  EXPECT_TRUE(all_finite(model.gradients()));
}

}  // namespace
}  // namespace rondo

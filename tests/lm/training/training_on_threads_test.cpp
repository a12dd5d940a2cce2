// A training on two threads, of a model so large that they share its loops and products; `make check-threads`
// runs it under the thread sanitizer. By the library alone, so that only the library is compiled for that.
#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "lm/tasks/language_modelling.h"
#include "lm/training/trainer.h"
#include "tensor/threads.h"

namespace rondo {
namespace {

class TrainingOnThreads : public testing::Test {
 protected:
  void TearDown() override { set_threads(before_); }

 private:
  const int before_ = threads();
};

/// The loss per symbol of some updates, then of the validation text.
std::vector<double> losses_on(int count) {
  set_threads(count);
  constexpr int64_t V = 60, B = 16, T = 50;
  std::vector<int32_t> ids(B * T * 8 + 1);
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int32_t>((i * i + i / 7) % V);
  const std::span<const int32_t> all(ids);
  LanguageModelOptions options;
  options.embedding = 64;
  options.hidden = {256, 256};
  options.dropout = 0.2;
  LanguageModel model(options, V, 1);
  LanguageModelling task(model, {.batches = {.batch = B, .chunks = {.length = T}}}, all, all.first(400));
  Trainer trainer(task, {.epochs = 1, .clip = 1, .optimizer = {.kind = OptimizerKind::adam}});
  std::vector<double> losses;
  while (trainer.next_batch()) {
    trainer.step();
    losses.push_back(trainer.metrics().mean_loss());
  }
  losses.push_back(evaluate_ids(model, all.first(400), {}).nats());
  return losses;
}

TEST_F(TrainingOnThreads, LosesWhatItLosesOnOne) {
  const std::vector<double> one = losses_on(1), two = losses_on(2);
  ASSERT_EQ(one.size(), 9);
  ASSERT_EQ(two.size(), 9);
  // The blocks of BLAS, and so the order of its sums, depend on the number of threads.
  for (size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(two[i], one[i], 1e-3) << i;
  EXPECT_LT(one.back(), one.front() - 0.1) << "nothing was learnt";
}

}  // namespace
}  // namespace rondo

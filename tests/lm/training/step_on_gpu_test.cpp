// A training step on a GPU: replayed as a graph it is, bit for bit, what it is eagerly; the host waits for
// nothing; what is not finite changes nothing.
#include <limits>

#include "lm/training/gpu_step.h"
#include "tensor/allocator.h"
#include "tensor/products/precision.h"
#include "tests/cuda/device.h"
#include "tests/cuda/graph_order.h"
#include "tests/lm/training/small_training.h"
#include "tests/temporary_folder.h"
#include "tests/tensor/errors.h"

namespace rondo {
namespace {

const std::vector<int32_t> longer_text = some_ids(1200);

/// Everything that changes from step to step: masks, Adam's corrections, lengths and so rates, and whether
/// the state goes on.
Recipe recipe_of(const std::string& cell) {
  Recipe recipe = small_recipe(cell);
  set(recipe,
      "model.embedding_dropout=0.2 model.tied=true train.length_deviation=2 train.reset_every=5 "
      "train.learning_rate=0.01 train.clip=0.25 train.activation_regularization=2 "
      "train.temporal_regularization=1 train.averaging=non_monotonic train.averaging_interval=1");
  return recipe;
}
/// Of whose steps some begin from initial states that are trained, and are run as they are.
Recipe recipe_with_trained_initial_states() {
  Recipe recipe = recipe_of("lstm");
  set(recipe, "model.trained_initial_states=true train.reset_every=3");
  return recipe;
}
Recipe awd_recipe() {
  Recipe recipe = recipe_of("mlstm");
  set(recipe,
      "model.weight_drop=0.3 model.experts=3 model.latent_dropout=0.2 train.optimizer=sgd "
      "train.weight_noise=0.05");
  return recipe;
}

/// The loss of 18 steps, the average from the middle on, a new epoch behind; then all weights, their average
/// in force.
auto trained(const Recipe& recipe, const std::vector<int32_t>& ids, bool replays) {
  Training training(recipe, 11, ids, {}, Device::cuda);
  training.trainer.set_replay(replays);
  advance(training, 8);
  double nats = training.trainer.metrics().loss;
  for (const double loss : {1.0, 2.0, 2.0, 2.0}) training.trainer.validated({.metrics = {{"nats", loss}}});
  EXPECT_TRUE(training.trainer.averages());
  advance(training, 10);
  nats += training.trainer.metrics().loss;
  const auto in_force = training.trainer.evaluated_weights();
  return std::pair(nats, training.model.values().to_vector());
}

TEST(GpuStep, ReplayedIsEager) {
  NEED_GPU();
  for (const Recipe& recipe :
       {recipe_of("lstm"), recipe_of("mi_lstm"), awd_recipe(), recipe_with_trained_initial_states()})
    EXPECT_EQ(trained(recipe, longer_text, true), trained(recipe, longer_text, false))
        << recipe.language_model().model.cell;
}

// Eager steps between replayed ones round the weights into memory that graphs write, too.
TEST(GpuStep, InBf16ReplayedIsEager) {
  NEED_GPU();
  const WithPrecision in_force(Precision::bf16);
  for (const Recipe& recipe : {recipe_of("lstm"), awd_recipe()}) {
    const auto trained_with = [&](bool replays) {
      Training training(recipe, 11, longer_text, {}, Device::cuda);
      double nats = 0;
      for (int i = 0; i < 3; ++i) {
        training.trainer.set_replay(replays);
        advance(training, 5);
        training.trainer.set_replay(false);
        advance(training, 1);
        nats += training.trainer.metrics().loss;
      }
      return std::pair(nats, training.model.values().to_vector());
    };
    EXPECT_EQ(trained_with(true), trained_with(false)) << recipe.language_model().model.cell;
  }
}

// Launches that do not wait for the one before: the same bits, of pieces almost.
TEST(GpuStep, OfBranchesIsTheChain) {
  NEED_GPU();
  const std::vector<int32_t> ids = some_ids(4000);
  Recipe of_pads = recipe_of("lstm");  // and of steps enough for pieces
  set(of_pads,
      "model.layers=3 model.embedding=5 model.hidden=[7,9,5] model.variational=true model.weight_drop=0.5 "
      "train.length=40 train.micro_batch=0");
  for (const Precision precision : {Precision::fp32, Precision::bf16})
    for (const Recipe& recipe :
         {recipe_of(precision == Precision::fp32 ? "mi_lstm" : "lstm"), awd_recipe(), of_pads}) {
      const WithPrecision in_force(precision);
      const auto trained_as = [&](cuda::GraphOrder order) {
        const WithOrder order_in_force(order);
        return trained(recipe, ids, true);
      };
      const auto chain = trained_as(cuda::GraphOrder::chain);
      EXPECT_EQ(trained_as(cuda::GraphOrder::branches), chain) << recipe.language_model().model.cell;
      const auto [nats, weights] = trained_as(cuda::GraphOrder::pieces);
      EXPECT_NEAR(nats, chain.first, 1e-5 * chain.first) << recipe.language_model().model.cell;
    }
}

// What a graph costs in memory is bounded: the kinds that ran last have one.
TEST(GpuStep, KeepsTheGraphsOfTheKindsThatRanLast) {
  NEED_GPU();
  GpuStep step;
  const Tensor x = Tensor::zeros({4}, Device::cuda);
  std::vector<int> calls(RecordedWork::max_graphs + 6, 0);
  const auto run = [&](size_t kind) {
    if (step.is_full()) step.collect();
    step.stage(0, {}, true, {}, {});
    step.run({static_cast<int64_t>(kind), false}, true, [&] {
      ++calls[kind];
      accumulate(x, x);
      fill(x, static_cast<real>(kind));
    });
  };
  for (int round = 0; round < 2; ++round)
    for (size_t kind = 0; kind < calls.size(); ++kind) run(kind);
  EXPECT_EQ(calls, std::vector<int>(calls.size(), 2)) << "once eagerly, once recorded";
  run(calls.size() - 1);
  EXPECT_EQ(calls.back(), 2) << "its graph is there";
  run(0);
  EXPECT_EQ(calls[0], 3) << "recorded again";
  EXPECT_EQ(x.to_vector(), std::vector<real>(4, 0));
  run(0);
  EXPECT_EQ(calls[0], 3);
}

TEST(GpuStep, IsTheCpus) {
  NEED_GPU();
  for (const Recipe& recipe : {awd_recipe(), recipe_with_trained_initial_states()}) {
    Training on_cpu(recipe, 11, longer_text), on_gpu(recipe, 11, longer_text, {}, Device::cuda);
    for (int i = 0; i < 20 && on_cpu.trainer.next_batch() && on_gpu.trainer.next_batch(); ++i) {
      const StepMetrics expected = update(on_cpu), got = update(on_gpu);
      // Float sums in another order; the difference grows with the steps.
      EXPECT_NEAR(got.loss, expected.loss, 1e-4 * expected.loss) << recipe.language_model().model.cell << i;
      EXPECT_NEAR(got.gradient_norm, expected.gradient_norm, 1e-3 * expected.gradient_norm) << i;
      EXPECT_EQ(got.learning_rate, expected.learning_rate);
      EXPECT_EQ(got.scored, expected.scored);
    }
  }
}

// One-hot symbols, lines of which not all is scored; batch normalisation, whose steps are run as they are.
TEST(GpuStep, IsTheCpusOfLinesAndOfNormalisedBatches) {
  NEED_GPU();
  Recipe lines = recipe_of("lstm"), normalised = recipe_of("bn_lstm");
  for (Recipe* it : {&lines, &normalised})
    set(*it, "model.tied=false train.length_deviation=0 train.averaging=never");
  set(lines,
      "data.batching=lines train.reset_every=0 train.activation_regularization=0 "
      "train.temporal_regularization=0 model.embedding=0 model.embedding_dropout=0");
  Recipe mixed = lines;
  set(mixed, "model.experts=3");
  // Statistics of two rows turn rounding errors into other signs.
  set(normalised, "train.batch=12 train.micro_batch=6");
  for (const auto& [recipe, precision] :
       {std::pair(lines, Precision::fp32), std::pair(lines, Precision::bf16),
        std::pair(mixed, Precision::bf16), std::pair(normalised, Precision::fp32)}) {
    const WithPrecision in_force(precision);
    Training on_cpu(recipe, 11, longer_text, 3), on_gpu(recipe, 11, longer_text, 3, Device::cuda);
    for (int i = 0; i < 20 && on_cpu.trainer.next_batch() && on_gpu.trainer.next_batch(); ++i) {
      const double expected = update(on_cpu).loss;
      EXPECT_NEAR(update(on_gpu).loss, expected, 1e-4 * expected) << recipe.language_model().model.cell << i;
      EXPECT_TRUE(on_gpu.task.chunk().steps % 4 == 0 || !on_gpu.model.can_be_recorded());
    }
  }
}

TEST(GpuStep, StopsForGoodWhereALossIsNotFinite) {
  NEED_GPU();
  Training training(recipe_of("lstm"), 11, longer_text, {}, Device::cuda);
  advance(training, 20);
  training.trainer.metrics();
  std::vector<real> values = training.model.values().to_vector();
  values[3] = std::numeric_limits<real>::quiet_NaN();
  training.model.values().set(values.data());
  advance(training, 10);  // nobody asks how it goes
  const std::string error = error_of<Diverged>([&] { training.trainer.metrics(); });
  expect_contains(error, "step 21: the loss is nan");
  expect_contains(error, training.model.segments()[0].name);
  const std::vector<real> after = training.model.values().to_vector();
  for (size_t i = 0; i < values.size(); ++i)
    if (i != 3) {
      ASSERT_EQ(after[i], values[i]) << i;
    }
}

// What a step that is not finite leaves in the gradients, between their rows as well, reaches no later one.
TEST(GpuStep, AfterOneThatIsNotFiniteALoadedStateIsThatOfANewTraining) {
  NEED_GPU();
  const TemporaryFolder folder;
  for (const Precision precision : {Precision::fp32, Precision::bf16})
    for (const Recipe& recipe : {recipe_of("lstm"), recipe_of("mi_lstm"), awd_recipe()}) {
      const WithPrecision in_force(precision);
      Training diverged(recipe, 11, longer_text, {}, Device::cuda),
          fresh(recipe, 11, longer_text, {}, Device::cuda);
      advance(diverged, 4);
      diverged.trainer.metrics();
      diverged.trainer.save(folder / "state", 0);
      for (const Segment& it : diverged.model.segments())
        fill(part_of(diverged.model.values(), it), std::numeric_limits<real>::infinity());
      advance(diverged, 4);
      EXPECT_THROW(diverged.trainer.metrics(), Diverged);
      const auto trained_on = [&](Training& training) {
        training.trainer.load(folder / "state");
        advance(training, 6);
        return std::pair(training.trainer.metrics().loss, training.model.values().to_vector());
      };
      EXPECT_EQ(trained_on(diverged), trained_on(fresh)) << recipe.language_model().model.cell;
    }
}

TEST(GpuStep, ManyStepsAreCollectedInTime) {
  NEED_GPU();
  Recipe recipe = recipe_of("lstm");
  set(recipe, "train.length=1 train.length_deviation=0 train.batch=2 train.micro_batch=0");
  const std::vector<int32_t> ids = some_ids(700);
  Training training(recipe, 11, ids, {}, Device::cuda), each(recipe, 11, ids, {}, Device::cuda);
  double nats = 0;
  int64_t steps = 0;
  for (; training.trainer.next_batch(); ++steps) training.trainer.step();
  while (each.trainer.next_batch()) nats += update(each).loss;
  EXPECT_GT(steps, 300);
  EXPECT_EQ(training.trainer.metrics().loss, nats);
}

TEST(GpuStep, AsksTheDriverForNothingInASteadyLoop) {
  NEED_GPU();
  const std::vector<int32_t> ids = some_ids(4000);
  Recipe recipe = awd_recipe();
  recipe.language_model().train.batches.chunks.deviation = 0;
  Training training(recipe, 11, ids, {}, Device::cuda);
  advance(training, 3);
  const size_t before = memory_statistics(Device::cuda).system_allocations;
  const int64_t launches = cuda::launches();
  advance(training, 10);
  EXPECT_EQ(memory_statistics(Device::cuda).system_allocations, before);
  EXPECT_GT(cuda::launches(), launches + 1000);  // of the graphs
  EXPECT_GT(training.trainer.metrics().loss, 0);
}

/// Two ranks, of which the other has no share: keeps what it is to add up.
class RankBesideAnIdleOne : public Ranks {
 public:
  RankBesideAnIdleOne() : Ranks(2, 0) {}
  void add_up(std::span<float>) override {}
  void add_up(std::span<double>) override {}
  void send(std::span<std::byte>) override {}
  struct Sum {
    std::vector<real> numbers;
    int64_t launches;  // so far
  };
  std::vector<Sum> begun;

 private:
  void begin_on_gpu(real* numbers, size_t count) override {
    begun.push_back({std::vector<real>(count), cuda::launches()});
    cuda::download(begun.back().numbers.data(), numbers, count * sizeof(real));
  }
  void end_on_gpu() override {}
};

TEST(StepOnGpu, GradientsAreAddedUpWhileOthersAreComputed) {
  NEED_GPU();
  for (const bool drops : {false, true}) {
    Recipe recipe = small_recipe("lstm");
    recipe.language_model().model.hidden = {1024};  // a layer's weights are one piece or more
    recipe.language_model().model.regularization.weight_drop = drops ? 0.5 : 0;
    RankBesideAnIdleOne ranks;
    Training training(recipe, 11, small_text, {}, Device::cuda);
    training.trainer.join(ranks);
    advance(training, 1);
    ASSERT_GE(ranks.begun.size(), 3u) << "two pieces, and the loss";
    EXPECT_EQ(ranks.begun.back().numbers.size(), 1u);
    std::vector<real> added;  // the last in the buffer was first
    for (size_t i = 0; i + 1 < ranks.begun.size(); ++i)
      added.insert(added.begin(), ranks.begun[i].numbers.begin(), ranks.begun[i].numbers.end());
    EXPECT_TRUE(added == training.model.gradients().to_vector()) << "a gradient that was not complete";
    // The first layer's backward lies between the first and the last.
    EXPECT_LT(ranks.begun.front().launches + 10, ranks.begun[ranks.begun.size() - 2].launches);
  }
}

TEST(StepOnGpu, SymbolsMayChangeOnlyWhereTheStepMayBeReplayed) {
  NEED_GPU();
  struct Watched : LanguageModelling {
    using LanguageModelling::LanguageModelling;
    Loss loss(int64_t part, const std::vector<Tokens>& indices, RandomContext random) override {
      may_change = indices.front()->may_change();
      return LanguageModelling::loss(part, indices, random);
    }
    bool may_change = false;
  };
  for (const auto& [cell, alone] : {std::pair("lstm", true), {"lstm", false}, {"bn_lstm", true}}) {
    const Recipe recipe = small_recipe(cell);
    RankBesideAnIdleOne ranks;
    LanguageModel model(model_options(recipe.language_model()), 11, 1, Device::cuda);
    Watched task(model, recipe.language_model().train, small_text);
    Trainer trainer(task, recipe.trainer);
    if (!alone) trainer.join(ranks);
    ASSERT_TRUE(trainer.next_batch());
    trainer.step();
    EXPECT_EQ(task.may_change, cell == std::string("lstm") && alone) << cell;
  }
}

}  // namespace
}  // namespace rondo

// Graphs whose launches wait only for those that they need: the same bits in any order that the edges allow,
// and no access that was not noted.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "cuda/accesses.h"
#include "cuda/runtime.h"
#include "tensor/kernels/kernels.h"
#include "tensor/products/precision.h"
#include "tests/cuda/graph_order.h"
#include "tests/emulated_gpu/emulated_gpu.h"
#include "tests/lm/tasks/reversal_training.h"
#include "tests/lm/training/small_training.h"

namespace rondo {
namespace {

using cuda::GraphOrder;

// ---- Launches.

/// Matrices that a graph computes with, of which each has another number in all places.
struct Matrices {
  Tensor x = Tensor::filled({3, 8}, 1, Device::cuda), y = Tensor::filled({3, 8}, 2, Device::cuda),
         z = Tensor::filled({3, 8}, 3, Device::cuda);
};

void record_and_run(const std::function<void()>& work) {
  const WithOrder in_force(GraphOrder::branches);
  const cuda::Graph graph(work);
  graph.launch();
  cuda::synchronize();
}

TEST(Branches, WaitForWhatTheyNeedAndNothingElse) {
  const Matrices on;
  const auto chain_of = [&](const std::function<void()>& work) {
    record_and_run(work);
    return emulated_gpu::counts().longest_chain;
  };
  EXPECT_EQ(chain_of([&] { fill(on.x, 4), fill(on.y, 5), fill(on.z, 6); }), 1);
  EXPECT_EQ(chain_of([&] { copy(on.x, on.y), copy(on.x, on.z); }), 1) << "two may read at the same time";
  EXPECT_EQ(chain_of([&] { fill(on.x, 7), copy(on.x, on.y), copy(on.y, on.z); }), 3) << "read after write";
  EXPECT_EQ(chain_of([&] { copy(on.x, on.y), fill(on.x, 8); }), 2) << "write after read";
  EXPECT_EQ(chain_of([&] { fill(on.x, 4), fill(on.x, 5); }), 2) << "write after write";
  const auto column = [&](int64_t i) { return on.x.slice_columns(i, i + 1); };
  EXPECT_EQ(chain_of([&] { fill(on.x.slice_rows(0, 1), 4), fill(on.x.slice_rows(1, 3), 5); }), 1) << "rows";
  EXPECT_EQ(chain_of([&] { fill(column(0), 4), fill(column(1), 5); }), 2) << "an access is one range";
}

TEST(Branches, ALaunchOfWhichNothingWasNotedIsBehindAllAndBeforeAll) {
  const Matrices on;
  record_and_run([&] {
    fill(on.x, 4);
    fill(on.z, 6);
    const Copy unnoted{on.x.read_operand(), on.y.write_operand()};
    cuda::noted_accesses.clear();
    launch(Device::cuda, on.x.extent(), unnoted);
    fill(on.z, 7);
  });
  EXPECT_EQ(emulated_gpu::counts().longest_chain, 3);
  EXPECT_EQ(emulated_gpu::counts().unnoted, 1);
  EXPECT_EQ(on.y.to_vector(), std::vector<real>(24, 4));
}

/// Notes that the next launch accesses this, and nothing else.
void note_only(const Tensor& x, bool writes) {
  cuda::noted_accesses.clear();
  cuda::note_access(x.address(), 24 * sizeof(real), writes);
}

TEST(Branches, ThatAccessWhatTheyHaveNotNotedAreRefused) {
  const Matrices on;
  const auto refused = [&](const std::function<void()>& note, const char* what) {
    EXPECT_DEATH(record_and_run([&] {
                   fill(on.x, 4);
                   const Copy copies{on.x.read_operand(), on.y.write_operand()};
                   note();
                   launch(Device::cuda, on.x.extent(), copies);
                 }),
                 what);
  };
  [[maybe_unused]] const char* const unnoted = "has not noted that it accesses";
  const char* const changed = "has changed what it has not";
#ifndef __clang__  // whose emulated GPU does not see the addresses among a kernel's arguments
  refused([&] { note_only(on.y, true); }, unnoted);
  refused([&] { note_only(on.x, false); }, changed);
#endif
  refused([&] { note_only(on.x, false), cuda::note_access(on.y.address(), 24 * sizeof(real), false); },
          changed);
  refused([&] { note_only(on.x, false), cuda::note_access(on.y.address(), 20 * sizeof(real), true); },
          changed);
}

// ---- Trainings.

/// AWD-LSTM in narrow, of three layers and 70 steps, as in bench/awd-lstm-b20.toml.
Recipe awd_lstm(const std::string& cell, int64_t experts = 1) {
  Recipe recipe = small_recipe(cell);
  set(recipe,
      "model.layers=3 model.embedding=4 model.hidden=[8,8,4] model.dropout=0.3 model.variational=true "
      "model.tied=true model.weight_drop=0.5 train.batch=5 train.micro_batch=0 train.length=70 "
      "train.optimizer=sgd train.clip=0.25");
  recipe.language_model().model.experts = experts;
  return recipe;
}

struct Trained {
  double nats;  // of the last step
  std::vector<real> weights;
  emulated_gpu::Counts recorded;
  int64_t launches;  // of a step
};
Trained trained(const Recipe& recipe, GraphOrder order) {
  const WithOrder in_force(order);
  const std::vector<int32_t> ids = some_ids(5 * 70 * 8 + 1);
  Training training(recipe, 11, ids, {}, Device::cuda);
  advance(training, 2);  // the second is recorded
  const emulated_gpu::Counts recorded = emulated_gpu::counts();
  advance(training, 2);
  training.trainer.metrics();
  const int64_t before = emulated_gpu::counts().launches;
  advance(training, 1);
  const double nats = training.trainer.metrics().loss;
  return {nats, training.model.values().to_vector(), recorded, emulated_gpu::counts().launches - before};
}

TEST(Branches, TrainAsTheChain) {
  struct Model {
    Precision precision;
    std::string cell;
    int64_t experts = 1;
  };
  for (const auto& [precision, cell, experts] : {Model{Precision::fp32, "lstm"},
                                                 {Precision::bf16, "lstm"},
                                                 {Precision::fp32, "mlstm"},
                                                 {Precision::bf16, "mi_lstm"},
                                                 {Precision::bf16, "lstm", 3}}) {
    const WithPrecision in_force(precision);
    const std::string name = cell + " of " + std::to_string(experts);
    const Trained chain = trained(awd_lstm(cell, experts), GraphOrder::chain),
                  branches = trained(awd_lstm(cell, experts), GraphOrder::branches),
                  pieces = trained(awd_lstm(cell, experts), GraphOrder::pieces);
    EXPECT_EQ(branches.nats, chain.nats) << name;
    EXPECT_EQ(branches.weights, chain.weights) << name;
    EXPECT_EQ(branches.launches, chain.launches) << name;
    EXPECT_NEAR(pieces.nats, chain.nats, 1e-5 * chain.nats) << name;
    EXPECT_EQ(branches.recorded.unnoted + pieces.recorded.unnoted, 0) << name;
    if (cell != "lstm" || experts > 1) continue;  // as in bench/awd-lstm-b20.toml
    // Measured: 863 and 504 of 1165, and 511 on another machine. Launches wait for memory that is used
    // again, and which memory that is differs.
    EXPECT_LT(branches.recorded.longest_chain, 920);
    EXPECT_LT(pieces.recorded.longest_chain, 560);
  }
}

TEST(Branches, TranslateAndEvaluateAsTheChain) {
  const auto translated = [&](GraphOrder order) {
    const WithOrder in_force(order);
    EncoderDecoderOptions options = small_encoder_decoder();
    options.attention = Score::general;
    ReversalTraining training({.batches = {.order = {.batch = 20}}}, options, 200, Device::cuda);
    return training.advance(40);
  };
  const double chain = translated(GraphOrder::chain);
  EXPECT_EQ(translated(GraphOrder::branches), chain);
  EXPECT_NEAR(translated(GraphOrder::pieces), chain, 1e-4 * chain);
  const std::vector<int32_t> ids = some_ids(4 * rows_at_once + 50);
  const auto evaluated = [&](GraphOrder order) {
    const WithOrder in_force(order);
    Training training(small_recipe("lstm"), 11, ids, {}, Device::cuda);
    return evaluate_ids(training.model, ids, {.streams = 8}).nats_sum;
  };
  EXPECT_EQ(evaluated(GraphOrder::branches), evaluated(GraphOrder::chain));
  EXPECT_NEAR(evaluated(GraphOrder::pieces), evaluated(GraphOrder::chain), 1e-2);
}

}  // namespace
}  // namespace rondo

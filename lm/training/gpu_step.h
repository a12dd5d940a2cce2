// How a training step runs on a GPU without the host waiting for it: the values that change from step to step
// (token ids, the number of the update, the optimizer's numbers) are sent ahead as one block; the launches
// are recorded once and then replayed as a graph; losses and norms stay on the GPU until they are requested.
// What a step computes is in lm/training/trainer.cpp. Next: cuda/runtime.h.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "autograd/sink.h"
#include "cuda/runtime.h"
#include "optim/step_control.h"
#include "optim/updates.h"

namespace rondo {

class GpuStep {
 public:
  GpuStep();

  /// What determines the launches of a step.
  struct Kind {
    int64_t batch;  // Batch::kind
    bool averages;
    friend auto operator<=>(const Kind&, const Kind&) = default;
  };

  /// Sends a step's values to the GPU: the number of the update, indices, and the numbers of the optimizer
  /// and of the average. Returns the indices as the step's kernels will find them.
  std::vector<Tokens> stage(uint64_t update, std::vector<std::vector<int32_t>> indices,
                            std::span<const std::byte> optimizer, std::span<const std::byte> average);
  /// Runs `launch` after stage(): the first call of a kind runs it eagerly, the second records it as a graph,
  /// later ones replay the graph without calling it; of more than max_graphs kinds those that ran last have
  /// a graph. Steps with different launches have different kinds. If `replays` is false, it always runs
  /// eagerly.
  void run(Kind kind, bool replays, const std::function<void()>& launch);

  // For use within `launch`: where its kernels find the staged values.

  Deferred<uint64_t> update() const { return Deferred<uint64_t>::found_at(&on_gpu()->update); }
  const void* optimizer_numbers() const { return &on_gpu()->optimizer; }
  const void* average_numbers() const { return &on_gpu()->average; }
  /// Records the loss [1] and the gradients' norm, and decides whether the step is applied
  /// (optim/step_control.h).
  StepControl decide(const Tensor& loss, const Tensor& gradients, double max_norm);

  /// The records of the steps since the last call, in order. Waits for them.
  std::vector<StepRecord> collect();
  /// Whether collect() must be called before the next step.
  bool is_full() const { return outstanding_ == max_outstanding; }

  /// A graph of a step takes some megabytes of the host's memory and of the driver's.
  static constexpr size_t max_graphs = 64;

  /// Discards graphs, steps and decisions: for another training.
  void reset();

 private:
  static constexpr int64_t max_outstanding = 256;
  /// The beginning of the block that is sent.
  struct Numbers {
    uint64_t update = 0;  // of RandomKey
    int64_t slot = 0;     // of the record
    alignas(16) std::array<std::byte, max_update_bytes> optimizer{}, average{};
  };
  /// A block on the host. There are several, so that one can be written while others wait to be copied.
  struct Block {
    std::unique_ptr<char, void (*)(void*)> memory{nullptr, cuda::free_pinned_block};
    std::unique_ptr<cuda::Fence> read;
  };
  struct Recording {
    size_t bytes = 0;  // of the block: all steps of a kind stage the same size
    bool has_run = false;
    int64_t last_run = 0;  // runs_ then
    std::unique_ptr<cuda::Graph> graph;
  };

  void make_blocks(size_t bytes);
  void make_room_for_graph();
  Numbers* on_gpu() const { return static_cast<Numbers*>(on_gpu_.get()); }

  size_t block_bytes_ = 0, used_bytes_ = 0;
  std::array<Block, 4> blocks_;
  size_t current_ = 0;
  std::shared_ptr<void> on_gpu_, records_, decision_;
  int64_t outstanding_ = 0;
  std::map<Kind, Recording> recordings_;
  int64_t runs_ = 0;
  int64_t memory_returns_ = 0;  // StepMemory::returns() at the last run
};

}  // namespace rondo

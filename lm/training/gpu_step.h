// How a training step runs on a GPU, where the host never waits for it: what changes from step to step (token
// ids, the number of the update, the optimizer's numbers) is sent ahead as one block; all else is launched
// once and from then on replayed as a graph; losses and norms stay on the GPU until they are asked for. It
// deliberately does not know what a step computes: lm/training/trainer.cpp does. Next: cuda/runtime.h.
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
#include "optim/apply_update.h"
#include "optim/step_control.h"

namespace rondo {

class GpuStep {
 public:
  GpuStep();

  /// What decides on the launches of a step.
  struct Kind {
    int64_t batch;  // Batch::kind
    bool averages;
    friend auto operator<=>(const Kind&, const Kind&) = default;
  };

  /// Sends what a step needs: the number of the update, indices, which it returns as the step's kernels will
  /// find them, and the numbers of its optimizer and of its average.
  std::vector<Tokens> stage(uint64_t update, std::vector<std::vector<int32_t>> indices,
                            std::span<const std::byte> optimizer, std::span<const std::byte> average);
  /// Runs `launch`, once all is staged: at first as it is, the second time while a graph is recorded of it,
  /// then without calling it. `kind` tells steps apart whose launches differ. Where `replays` is false it
  /// always runs as it is.
  void run(Kind kind, bool replays, const std::function<void()>& launch);

  // Within `launch`, where its kernels find what was staged:

  Deferred<uint64_t> update() const { return Deferred<uint64_t>::found_at(&on_gpu()->update); }
  const void* optimizer_numbers() const { return &on_gpu()->optimizer; }
  const void* average_numbers() const { return &on_gpu()->average; }
  /// Notes the loss [1] and the gradients' norm, and what becomes of the step (optim/step_control.h).
  StepControl decide(const Tensor& loss, const Tensor& gradients, double max_norm);

  /// What the steps since the last call came to, in order. Waits for them.
  std::vector<StepRecord> collect();
  /// Whether collect() must be called before a further step.
  bool is_full() const { return outstanding_ == max_outstanding; }

  /// Forgets graphs, steps and decisions: for another training.
  void reset();

 private:
  static constexpr int64_t max_outstanding = 256;
  /// At the head of the block that is sent.
  struct Numbers {
    uint64_t update = 0;  // of RandomKey
    int64_t slot = 0;     // of the record
    alignas(16) std::array<std::byte, max_update_bytes> optimizer{}, average{};
  };
  /// Blocks on the host, so that one can be written while others wait to be copied.
  struct Block {
    std::unique_ptr<char, void (*)(void*)> memory{nullptr, cuda::free_pinned_block};
    std::unique_ptr<cuda::Fence> read;
  };
  struct Recording {
    size_t bytes = 0;  // of the block: steps of a kind stage the same
    bool has_run = false;
    std::unique_ptr<cuda::Graph> graph;
  };

  void make_blocks(size_t bytes);
  Numbers* on_gpu() const { return static_cast<Numbers*>(on_gpu_.get()); }

  size_t block_bytes_ = 0, used_bytes_ = 0;
  std::array<Block, 4> blocks_;
  size_t current_ = 0;
  std::shared_ptr<void> on_gpu_, records_, decision_;
  int64_t outstanding_ = 0;
  std::map<Kind, Recording> recordings_;
};

}  // namespace rondo

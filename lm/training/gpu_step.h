// How a training step runs on a GPU, where the host never waits for it: what changes from step to step (token
// ids, the number of the update, the optimizer's numbers) is sent ahead as one block; all else is launched
// once and from then on replayed as a graph; losses and norms stay on the GPU until they are asked for. It
// deliberately does not know what a step computes: lm/training/training.cpp does. Next: cuda/runtime.h.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "autograd/sink.h"
#include "cuda/runtime.h"
#include "optim/apply_update.h"
#include "tensor/kernels.h"

namespace rondo {

class GpuStep {
 public:
  GpuStep();

  /// At the head of the block that is sent.
  struct Numbers {
    uint64_t update = 0;  // of RandomKey
    int64_t slot = 0;     // of the record
    alignas(16) std::array<char, most_update_bytes> optimizer{}, average{};
  };

  /// What decides on the launches of a step.
  struct Kind {
    int64_t length;
    bool averages;
    friend auto operator<=>(const Kind&, const Kind&) = default;
  };

  // A step begins with what it needs, on the host:

  /// Makes room for so many pieces of ids of a size, and numbers to be filled in.
  Numbers& prepare(uint64_t update, size_t pieces, size_t piece_size);
  /// Writes piece i, and returns it as the step's kernels will find it.
  Tokens ids(size_t i, std::vector<int32_t> values);
  /// Runs `launch`, once all is written: at first as it is, the second time while a graph is recorded of it,
  /// then without calling it. `kind` tells steps apart whose launches differ. Where `replays` is false it
  /// always runs as it is.
  void run(Kind kind, bool replays, const std::function<void()>& launch);

  // Within `launch`:

  /// Where kernels find the number of the update; null before the first step.
  const uint64_t* update() const { return on_gpu_ ? &on_gpu()->update : nullptr; }
  /// Notes the loss [1], the gradients' norm and what comes of it for the updates.
  void judge(const Tensor& nats, const Tensor& gradients, double max_norm);
  LateNumbers optimizer_numbers() const { return late(&on_gpu()->optimizer); }
  /// An average takes no gradient, so no factor.
  LateNumbers average_numbers() const {
    LateNumbers it = late(&on_gpu()->average);
    it.factor = nullptr;
    return it;
  }

  /// What the steps since the last call came to, in order. Waits for them.
  std::vector<StepRecord> collect();
  /// Whether collect() must be called before a further step.
  bool is_full() const { return outstanding_ == most_outstanding; }

  /// Forgets the graphs: where tensors that a step works on have been replaced.
  void forget() { recordings_.clear(); }

 private:
  static constexpr int64_t most_outstanding = 256;
  /// Blocks on the host, so that one can be written while others wait to be copied.
  struct Block {
    std::unique_ptr<char, void (*)(void*)> memory{nullptr, cuda::free_pinned_block};
    std::unique_ptr<cuda::Fence> read;
  };
  struct Recording {
    bool has_run = false;
    std::unique_ptr<cuda::Graph> graph;
  };

  void make_blocks(size_t bytes);
  Numbers* on_gpu() const { return static_cast<Numbers*>(on_gpu_.get()); }
  LateNumbers late(const void* update) const;

  size_t block_bytes_ = 0, used_bytes_ = 0, piece_size_ = 0;
  std::array<Block, 4> blocks_;
  size_t current_ = 0;
  std::shared_ptr<void> on_gpu_, records_, verdict_;
  int64_t outstanding_ = 0;
  std::map<Kind, Recording> recordings_;
};

}  // namespace rondo

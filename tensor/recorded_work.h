// Work that a GPU does many times with other numbers, such as a training step, without the host waiting for
// it: what changes from time to time (token ids, numbers) is sent ahead as one block; the launches are
// recorded once and then replayed as a graph. Next: cuda/runtime.h.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "cuda/runtime.h"
#include "tensor/allocator.h"
#include "tensor/indices.h"

namespace rondo {

/// Memory on the GPU.
inline std::shared_ptr<void> gpu_memory(size_t bytes) {
  return {allocate(Device::cuda, bytes), [bytes](void* block) { release(Device::cuda, block, bytes); }};
}

class RecordedWork {
 public:
  /// What determines the launches. Work with different launches has different kinds.
  using Kind = std::vector<int64_t>;

  /// Sends numbers and indices to the GPU as one block. Returns the indices as kernels will find them, which
  /// may change if the work may be replayed.
  std::vector<Tokens> stage(std::span<const std::byte> numbers, std::vector<std::vector<int32_t>> indices,
                            bool may_be_replayed) {
    const auto bytes_of = [](const std::vector<int32_t>& values) {
      return Indices::layout_size(values.size()) * sizeof(int32_t);
    };
    used_bytes_ = numbers.size();
    for (const auto& values : indices) used_bytes_ += bytes_of(values);
    if (used_bytes_ > block_bytes_) make_blocks(used_bytes_ + used_bytes_ / 2);
    current_ = (current_ + 1) % blocks_.size();
    blocks_[current_].read->wait();
    char* block = blocks_[current_].memory.get();
    std::ranges::copy(numbers, reinterpret_cast<std::byte*>(block));
    std::vector<Tokens> staged;
    size_t offset = numbers.size();
    for (std::vector<int32_t>& values : indices) {
      const size_t bytes = bytes_of(values);
      Indices::to_device_layout(values, reinterpret_cast<int32_t*>(block + offset));
      const auto* place = reinterpret_cast<const int32_t*>(static_cast<const char*>(on_gpu_.get()) + offset);
      staged.push_back(std::make_shared<const Indices>(std::move(values), place, may_be_replayed));
      offset += bytes;
    }
    return staged;
  }

  /// Runs `launch` after stage(): the first call of a kind runs it eagerly, the second records it as a graph,
  /// later ones replay the graph without calling it; of more than max_graphs kinds those that ran last have
  /// a graph. If `replays` is false, it always runs eagerly. Its memory is StepMemory.
  void run(const Kind& kind, bool replays, const std::function<void()>& launch) {
    cuda::upload_pinned(on_gpu_.get(), blocks_[current_].memory.get(), used_bytes_);
    blocks_[current_].read->set();
    // Where memory was short, that of the graphs has been returned: they are recorded again.
    if (const int64_t now = StepMemory::returns(Device::cuda); std::exchange(memory_returns_, now) != now)
      recordings_.clear();
    Recording& recording = recordings_[kind];
    check(!replays || !recording.has_run || recording.bytes == used_bytes_,
          "[recorded work] work of one kind needs indices of the same sizes");
    recording.bytes = used_bytes_;
    recording.last_run = ++runs_;
    if (!replays || !recording.graph) {
      const StepMemory memory(Device::cuda);
      if (!replays || !recording.has_run) {
        launch();
        recording.has_run |= replays;
        return;
      }
      make_room_for_graph();
      recording.graph = std::make_unique<cuda::Graph>(launch);
    }
    recording.graph->launch();
  }

  /// Where kernels find the numbers of stage().
  const void* numbers() const { return on_gpu_.get(); }

  /// A graph of a training step takes some megabytes of the host's memory and of the driver's.
  static constexpr size_t max_graphs = 64;

  /// Discards all graphs.
  void clear() { recordings_.clear(); }

 private:
  /// A block on the host. There are several, so that one can be written while others wait to be copied.
  struct Block {
    std::unique_ptr<char, void (*)(void*)> memory{nullptr, cuda::free_pinned_block};
    std::unique_ptr<cuda::Fence> read;
  };
  struct Recording {
    size_t bytes = 0;  // of the block: all work of a kind stages the same size
    bool has_run = false;
    int64_t last_run = 0;  // runs_ then
    std::unique_ptr<cuda::Graph> graph;
  };

  void make_blocks(size_t bytes) {
    cuda::synchronize();
    recordings_.clear();  // the graphs read the old block
    on_gpu_ = gpu_memory(bytes);
    for (Block& block : blocks_) {
      block.memory = {static_cast<char*>(cuda::pinned_block(bytes)), cuda::free_pinned_block};
      block.read = std::make_unique<cuda::Fence>();
    }
    block_bytes_ = bytes;  // unless memory is short
  }
  void make_room_for_graph() {
    std::vector<Recording*> with_graph;
    for (auto& [kind, recording] : recordings_)
      if (recording.graph) with_graph.push_back(&recording);
    if (with_graph.size() < max_graphs) return;
    const auto oldest =
        std::ranges::min_element(with_graph, [](auto* a, auto* b) { return a->last_run < b->last_run; });
    (*oldest)->graph = nullptr;  // recorded again when work of its kind comes again
  }

  std::map<Kind, Recording> recordings_;
  int64_t runs_ = 0;
  int64_t memory_returns_ = 0;  // StepMemory::returns() at the last run
  size_t block_bytes_ = 0, used_bytes_ = 0;
  std::shared_ptr<void> on_gpu_;
  std::array<Block, 4> blocks_;
  size_t current_ = 0;
};

}  // namespace rondo

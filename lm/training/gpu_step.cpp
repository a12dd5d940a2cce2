// A training step on a GPU: blocks, graphs, records.
#include "lm/training/gpu_step.h"

#include <algorithm>
#include <utility>

#include "tensor/allocator.h"

namespace rondo {
namespace {

std::shared_ptr<void> gpu_memory(size_t bytes) {
  return {allocate(Device::cuda, bytes), [bytes](void* block) { release(Device::cuda, block, bytes); }};
}

}  // namespace

GpuStep::GpuStep()
    : records_(gpu_memory(max_outstanding * sizeof(StepRecord))),
      decision_(gpu_memory(sizeof(StepDecision))) {
  reset();
}

void GpuStep::reset() {
  recordings_.clear();
  outstanding_ = 0;
  const StepDecision none;
  cuda::upload(decision_.get(), &none, sizeof none);
}

void GpuStep::make_blocks(size_t bytes) {
  cuda::synchronize();
  recordings_.clear();  // the graphs read the old block
  block_bytes_ = bytes;
  on_gpu_ = gpu_memory(bytes);
  for (Block& block : blocks_) {
    block.memory = {static_cast<char*>(cuda::pinned_block(bytes)), cuda::free_pinned_block};
    block.read = std::make_unique<cuda::Fence>();
  }
}

std::vector<Tokens> GpuStep::stage(uint64_t update, std::vector<std::vector<int32_t>> indices,
                                   std::span<const std::byte> optimizer, std::span<const std::byte> average) {
  check(!is_full(), "[gpu step] {} steps have not been collected", outstanding_);
  const auto bytes_of = [](const std::vector<int32_t>& values) {
    return Indices::layout_size(values.size()) * sizeof(int32_t);
  };
  used_bytes_ = sizeof(Numbers);
  for (const auto& values : indices) used_bytes_ += bytes_of(values);
  if (used_bytes_ > block_bytes_) make_blocks(used_bytes_ + used_bytes_ / 2);
  current_ = (current_ + 1) % blocks_.size();
  blocks_[current_].read->wait();
  char* block = blocks_[current_].memory.get();
  auto* numbers = new (block) Numbers;
  numbers->update = update;
  numbers->slot = outstanding_;
  std::copy(optimizer.begin(), optimizer.end(), numbers->optimizer.begin());
  std::copy(average.begin(), average.end(), numbers->average.begin());
  std::vector<Tokens> staged;
  size_t offset = sizeof(Numbers);
  for (std::vector<int32_t>& values : indices) {
    const size_t bytes = bytes_of(values);
    Indices::to_device_layout(values, reinterpret_cast<int32_t*>(block + offset));
    const auto* place = reinterpret_cast<const int32_t*>(static_cast<const char*>(on_gpu_.get()) + offset);
    staged.push_back(std::make_shared<const Indices>(std::move(values), place));
    offset += bytes;
  }
  return staged;
}

void GpuStep::run(Kind kind, bool replays, const std::function<void()>& launch) {
  cuda::upload_pinned(on_gpu_.get(), blocks_[current_].memory.get(), used_bytes_);
  blocks_[current_].read->set();
  ++outstanding_;
  // Where memory was short, that of the graphs has been returned: they are recorded again.
  if (const int64_t now = StepMemory::returns(Device::cuda); std::exchange(memory_returns_, now) != now)
    recordings_.clear();
  Recording& recording = recordings_[kind];
  check(!replays || !recording.has_run || recording.bytes == used_bytes_,
        "[gpu step] batches of one kind need indices of the same sizes");
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

void GpuStep::make_room_for_graph() {
  std::vector<Recording*> with_graph;
  for (auto& [kind, recording] : recordings_)
    if (recording.graph) with_graph.push_back(&recording);
  if (with_graph.size() < max_graphs) return;
  const auto oldest = std::min_element(with_graph.begin(), with_graph.end(),
                                       [](auto* a, auto* b) { return a->last_run < b->last_run; });
  (*oldest)->graph = nullptr;  // recorded again when a step of its kind comes again
}

StepControl GpuStep::decide(const Tensor& loss, const Tensor& gradients, double max_norm) {
  auto* decision = static_cast<StepDecision*>(decision_.get());
  decide_step(loss, gradients, max_norm, &on_gpu()->slot, static_cast<StepRecord*>(records_.get()), decision);
  return control_by(decision);
}

std::vector<StepRecord> GpuStep::collect() {
  std::vector<StepRecord> records(static_cast<size_t>(outstanding_));
  if (!records.empty()) cuda::download(records.data(), records_.get(), records.size() * sizeof(StepRecord));
  outstanding_ = 0;
  return records;
}

}  // namespace rondo

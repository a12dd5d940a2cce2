// A training step on a GPU: blocks, graphs, records.
#include "lm/training/gpu_step.h"

#include <cstring>

#include "optim/clipping.h"
#include "tensor/allocator.h"

namespace rondo {
namespace {

std::shared_ptr<void> gpu_memory(size_t bytes) {
  return {allocate(Device::cuda, bytes), [bytes](void* block) { release(Device::cuda, block, bytes); }};
}

}  // namespace

GpuStep::GpuStep()
    : records_(gpu_memory(most_outstanding * sizeof(StepRecord))), verdict_(gpu_memory(sizeof(StepVerdict))) {
  const StepVerdict none{1, 0};
  cuda::upload(verdict_.get(), &none, sizeof none);
}

void GpuStep::make_blocks(size_t bytes) {
  cuda::synchronize();
  forget();  // what has been recorded reads from where the block was
  block_bytes_ = bytes;
  on_gpu_ = gpu_memory(bytes);
  for (Block& block : blocks_) {
    block.memory = {static_cast<char*>(cuda::pinned_block(bytes)), cuda::free_pinned_block};
    block.read = std::make_unique<cuda::Fence>();
  }
}

GpuStep::Numbers& GpuStep::prepare(uint64_t update, size_t pieces, size_t piece_size) {
  check(!is_full(), "[gpu step] {} steps have not been collected", outstanding_);
  piece_size_ = piece_size;
  used_bytes_ = sizeof(Numbers) + pieces * Indices::layout_size(piece_size) * sizeof(int32_t);
  if (used_bytes_ > block_bytes_) make_blocks(used_bytes_ + used_bytes_ / 2);
  current_ = (current_ + 1) % blocks_.size();
  blocks_[current_].read->wait();
  auto* numbers = new (blocks_[current_].memory.get()) Numbers;
  numbers->update = update;
  numbers->slot = outstanding_;
  return *numbers;
}

Tokens GpuStep::ids(size_t i, std::vector<int32_t> values) {
  check(values.size() == piece_size_, "[gpu step] a piece of {} ids, got {}", piece_size_, values.size());
  const size_t offset = sizeof(Numbers) + i * Indices::layout_size(piece_size_) * sizeof(int32_t);
  Indices::to_device_layout(values, reinterpret_cast<int32_t*>(blocks_[current_].memory.get() + offset));
  const auto* place = reinterpret_cast<const int32_t*>(static_cast<const char*>(on_gpu_.get()) + offset);
  return std::make_shared<const Indices>(std::move(values), place);
}

void GpuStep::run(Kind kind, bool replays, const std::function<void()>& launch) {
  cuda::upload(on_gpu_.get(), blocks_[current_].memory.get(), used_bytes_);
  blocks_[current_].read->set();
  ++outstanding_;
  Recording& recording = recordings_[kind];
  if (!replays || !recording.graph) {
    const StepMemory memory(Device::cuda);
    if (!replays || !recording.has_run) {
      launch();
      recording.has_run |= replays;
      return;
    }
    recording.graph = std::make_unique<cuda::Graph>(launch);
  }
  recording.graph->launch();
}

void GpuStep::judge(const Tensor& nats, const Tensor& gradients, double max_norm) {
  judge_step(nats, gradients, max_norm, &on_gpu()->slot, static_cast<StepRecord*>(records_.get()),
             static_cast<StepVerdict*>(verdict_.get()));
}

LateNumbers GpuStep::late(const void* update) const {
  const auto* verdict = static_cast<const StepVerdict*>(verdict_.get());
  return {update, &verdict->factor, &verdict->stopped};
}

std::vector<StepRecord> GpuStep::collect() {
  std::vector<StepRecord> records(static_cast<size_t>(outstanding_));
  if (!records.empty()) cuda::download(records.data(), records_.get(), records.size() * sizeof(StepRecord));
  outstanding_ = 0;
  return records;
}

}  // namespace rondo

// How a training step runs on a GPU without the host waiting for it: what changes from step to step (token
// ids, the number of the update, the optimizer's numbers) is staged, and the launches are replayed, as
// tensor/recorded_work.h says; losses and norms stay on the GPU until they are requested. What a step
// computes is in lm/training/trainer.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "autograd/sink.h"
#include "optim/step_control.h"
#include "optim/updates.h"
#include "tensor/recorded_work.h"

namespace rondo {

class GpuStep {
 public:
  GpuStep() { reset(); }

  /// Sends a step's values to the GPU: the number of the update, indices, the numbers of the optimizer and of
  /// the average. Returns the indices as the step's kernels will find them: RecordedWork::stage().
  std::vector<Tokens> stage(uint64_t update, std::vector<std::vector<int32_t>> indices, bool may_be_replayed,
                            std::span<const std::byte> optimizer, std::span<const std::byte> average) {
    check(!is_full(), "[gpu step] {} steps have not been collected", outstanding_);
    Numbers numbers{.update = update, .slot = outstanding_};
    std::ranges::copy(optimizer, numbers.optimizer.begin());
    std::ranges::copy(average, numbers.average.begin());
    return work_.stage(std::as_bytes(std::span(&numbers, 1)), std::move(indices), may_be_replayed);
  }
  /// Runs `launch` after stage(): RecordedWork::run().
  void run(const RecordedWork::Kind& kind, bool replays, const std::function<void()>& launch) {
    ++outstanding_;
    work_.run(kind, replays, launch);
  }

  // For use within `launch`: where its kernels find the staged values.

  Deferred<uint64_t> update() const { return Deferred<uint64_t>::found_at(&on_gpu()->update); }
  const void* optimizer_numbers() const { return &on_gpu()->optimizer; }
  const void* average_numbers() const { return &on_gpu()->average; }
  /// Records the loss [1] and the gradients' norm, and decides whether the step is applied
  /// (optim/step_control.h).
  StepControl decide(const Tensor& loss, const Tensor& gradients, double max_norm) {
    auto* decision = static_cast<StepDecision*>(decision_.get());
    decide_step(loss, gradients, max_norm, &on_gpu()->slot,
                {static_cast<StepRecord*>(records_.get()), static_cast<size_t>(max_outstanding)}, decision);
    return control_by(decision);
  }

  /// The records of the steps since the last call, in order. Waits for them.
  std::vector<StepRecord> collect() {
    std::vector<StepRecord> records(static_cast<size_t>(outstanding_));
    if (!records.empty()) cuda::download(records.data(), records_.get(), records.size() * sizeof(StepRecord));
    outstanding_ = 0;
    return records;
  }
  /// Whether collect() must be called before the next step.
  bool is_full() const { return outstanding_ == max_outstanding; }

  /// Discards graphs, steps and decisions: for another training.
  void reset() {
    work_.clear();
    outstanding_ = 0;
    const StepDecision none;
    cuda::upload(decision_.get(), &none, sizeof none);
  }

 private:
  static constexpr int64_t max_outstanding = 256;
  struct Numbers {
    uint64_t update = 0;  // of RandomKey
    int64_t slot = 0;     // of the record
    alignas(16) std::array<std::byte, max_update_bytes> optimizer{}, average{};
  };
  const Numbers* on_gpu() const { return static_cast<const Numbers*>(work_.numbers()); }

  RecordedWork work_;
  std::shared_ptr<void> records_ = gpu_memory(max_outstanding * sizeof(StepRecord)),
                        decision_ = gpu_memory(sizeof(StepDecision));
  int64_t outstanding_ = 0;
};

}  // namespace rondo

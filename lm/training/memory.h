// The memory that a training takes, measured on a device without memory (tensor/backend.h: Device::meta)
// before any is allocated. The memory of the machine: tensor/allocator.h.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>

#include "lm/training/trainer.h"

namespace rondo {

/// Bytes at the peak.
struct TrainingMemory {
  std::int64_t training = 0;    // of steps and of the evaluations between them
  std::int64_t evaluation = 0;  // of an evaluation without a training
};

using MakeModel = std::function<std::unique_ptr<Module>(Device device)>;
using MakeObjective = std::function<std::unique_ptr<Objective>(Module& model)>;

/// Measures what a training would take on `device`: makes the model and its objective on the meta device, and
/// runs steps of the largest and the smallest batch and the beginning of an evaluation. Throws an InputError,
/// with what to make smaller, as soon as they take more than `most` bytes; the Errors of a model whose shapes
/// do not fit together.
TrainingMemory measure_training_memory(Device device, const TrainerOptions& options,
                                       const MakeModel& make_model, const MakeObjective& make_objective,
                                       std::int64_t most = std::numeric_limits<std::int64_t>::max());

}  // namespace rondo

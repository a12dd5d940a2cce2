// Computes all steps of a recurrent layer with one kernel on a GPU, which keeps the recurrent weights on
// the chip for the whole chunk, forward and backward. The stages of a cell: nn/cells/stages.h. The kernel:
// nn/recurrent/persistent_kernels.cu. It is chosen in nn/recurrent/recurrent_layer.cpp.
#pragma once

#include <optional>

#include "nn/cells/cell.h"
#include "nn/recurrent/persistent_plan.h"
#include "tensor/precision.h"

namespace rondo {

/// The limits of this machine's GPU; in a build without CUDA, those of an H100.
PersistentLimits persistent_limits();

/// How it would divide these stages; no value if they have no room in the shared memory.
std::optional<PersistentPlan> persistent_plan(const Recurrence& recurrence, Precision precision,
                                              const PersistentLimits& limits = {});
/// The same for the GPU of this machine, which has been asked whether it can run all blocks at the same time.
std::optional<PersistentPlan> persistent_plan_here(const Recurrence& recurrence, Precision precision);

struct PersistentResult {
  Variable output;  // [T, B, H]
  Variable h, c;    // after the last step, [B, H]; c undefined if the cell has none
};
/// `projected` as Cell::project_all() gives it, h and c [B, H] (c undefined: none), and the mask of h where
/// recurrent weights read it (undefined: none).
PersistentResult run_persistent(const Recurrence& recurrence, const PersistentPlan& plan,
                                const std::vector<Variable>& projected, const Variable& h, const Variable& c,
                                const Variable& mask);

}  // namespace rondo

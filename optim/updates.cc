// Compiled twice: by g++ for the CPU and by nvcc for CUDA.
// The launchers of the list of updates, for the current pass. Nothing here changes when an update is added.
#include "optim/updates.h"

#include "tensor/kernels/operator_entries.h"

namespace rondo::BACKEND {

std::vector<PointwiseOperator> update_operators() { return operator_entries(Updates{}); }

}  // namespace rondo::BACKEND

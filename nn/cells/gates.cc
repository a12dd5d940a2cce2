// Compiled twice: by g++ for the CPU and by nvcc for CUDA.
// The launchers of the gates' list, for the current pass. Nothing here changes when a gate is added.
#include "nn/cells/gates.h"

#include "tensor/kernels/operator_entries.h"

namespace rondo::BACKEND {

std::vector<PointwiseOperator> gates() { return operator_entries(Gates{}); }

}  // namespace rondo::BACKEND

// Compiled twice: by g++ for the CPU and by nvcc for CUDA.
// The launchers of the operators' list, for the current pass. Nothing here changes when an operator is added.
#include "autograd/operators.h"

#include "tensor/kernels/operator_entries.h"

namespace rondo::BACKEND {

std::vector<PointwiseOperator> rondo_operators() { return operator_entries(Operators{}); }

}  // namespace rondo::BACKEND

// The second list of operators, and its launchers.
#include "tests/autograd/cube.h"

#include "tensor/kernels/operator_entries.h"

namespace rondo {

std::vector<PointwiseOperator> cube_operators() {
  return cpu::operator_entries(OperatorList<CubeAndScaled>{});
}

}  // namespace rondo

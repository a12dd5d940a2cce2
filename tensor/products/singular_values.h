// The singular values of a matrix: how much a recurrent weight can lengthen or shorten what passes through
// it.
#pragma once

#include <vector>

#include "tensor/tensor.h"

namespace rondo {

/// All min(rows, columns) of them, the largest first, in double, by the LAPACK that OpenBLAS contains. Throws
/// Throws Error if its iteration does not converge.
std::vector<double> singular_values(const Tensor& matrix);

}  // namespace rondo

// The singular values of a matrix: how much a recurrent weight can lengthen or shorten what passes through
// it.
#pragma once

#include <vector>

#include "tensor/tensor.h"

namespace rondo {

/// All min(rows, columns) of them, the largest first, in double: Householder's reduction to a bidiagonal
/// matrix, and bisection for its singular values (Golub & Van Loan, Matrix Computations, 4th ed., 5.4.8 and
/// 8.4.1). About 8/3 n^3 operations on one thread.
std::vector<double> singular_values(const Tensor& matrix);

}  // namespace rondo

// The pointwise operators: each a struct whose body is its formula, the function that users call beside it,
// and a list at the end of each file. To add one, write both where it belongs and put it on that list:
// its derivative, SIMD loop, CUDA kernel, gradient check and documentation row follow from that. Loops are in
// tensor/kernels/pointwise_kernels.h; what mixes elements is in autograd/functions.h. A body uses + - * /,
// sqrt exp log log1p tanh sigmoid abs, max min and select; literals have type `real`.
#pragma once

#include "autograd/operators/arithmetic.h"
#include "autograd/operators/functions.h"

namespace rondo {

/// Rondo's list, beside the gates of cells (nn/cells/gates.h). Both feed the launchers of both backends, the
/// tests and `lm info --operators`.
using Operators = JoinedLists<ArithmeticOperators, FunctionOperators>;

}  // namespace rondo

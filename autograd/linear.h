// Matrix products with history. The weight gradient of a weight that is used at every time step is one
// product over all steps: backward passes (dz, x) to the weight's sink, which multiplies later
// (autograd/sink.h). Modules with weights: nn/layers/linear.h, nn/cells/.
#pragma once

#include <vector>

#include "autograd/variable.h"
#include "tensor/products/gemm.h"

namespace rondo {

/// y = x W^T + the sum of the biases. x [.., I], W [O, I] in PyTorch's layout, biases [O]; y [.., O].
Variable linear(const Variable& x, const Variable& weight, const std::vector<Variable>& biases = {});
/// y = z + x W^T, as one accumulating product. z [.., O]; if the caller gives it away (a temporary,
/// std::move) and nobody else uses its memory, y is computed there.
Variable add_linear(Variable z, const Variable& x, const Variable& weight);
/// y = a b. a [M, K], b [K, N].
Variable matmul(const Variable& a, const Variable& b);

/// A product for each n: y[n] = a[n] b[n], with a [N, M, K], b [N, K, P]; or y[n] = a[n] b[n]^T, with
/// b [N, P, K]; y [N, M, P].
Variable batched_matmul(const Variable& a, const Variable& b, Transpose transpose_b = Transpose::no);

/// Each row's own matrix times its vector: y_b = A_b x_b. matrices [B, O I] holds A_b [O, I] row by row,
/// x [B, I]; [B, O]. Throws Error if I does not divide the columns of matrices.
Variable per_row_matmul(const Variable& matrices, const Variable& x);

}  // namespace rondo

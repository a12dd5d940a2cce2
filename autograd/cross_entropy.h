// The output layer and its loss as one operator: logits, softmax, loss and all gradients by blocks of rows
// that stay in cache, so that the [N, V] matrix of logits never exists. The slow, obvious definition is
// linear() with negative_log_likelihood(). Next: tensor/kernels.cc, autograd/sink.h.
#pragma once

#include "autograd/variable.h"

namespace rondo {

struct CrossEntropy {
  Variable total;  // the weighted sum, in nats, [1]
  Tensor each;     // of each row, in nats and without its weight, [N]; 0 for an ignored row
};

/// total = sum_r row_weights[r] * -log softmax(x_r W^T + b)[targets[r]]. x [.., H] with N rows in all,
/// W [V, H] as PyTorch lays it out, b [V] or undefined, N targets, row_weights [N] or undefined: all 1.
/// A row of target -1 or of weight 0 is ignored: it costs no time, has loss 0 and no gradient (nor has its
/// weight), and its x may be anything, NaN included. Memory beyond one block: when recording, the gradients
/// of those inputs that need one, which are computed here and which backward only scales and adds; else
/// nothing but the result. Throws Error if shapes do not fit or a target is not in [-1, V).
CrossEntropy linear_cross_entropy(const Variable& x, const Variable& weight, const Variable& bias,
                                  const Tokens& targets, const Variable& row_weights = {});

/// The height of its blocks of logits [height, V], for so many rows that are scored.
int64_t cross_entropy_block_rows(int64_t rows, int64_t V);

}  // namespace rondo

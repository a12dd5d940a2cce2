// The output layer, one softmax or a mixture of several, and its loss as one operator: logits, softmax, loss
// and all gradients by blocks of rows that fit into the cache, so that the [N, V] matrix of logits never
// exists. The slow, obvious definition is linear() with cross_entropy(). Next: tensor/kernels/softmax.h,
// autograd/sink.h.
#pragma once

#include "autograd/variable.h"

namespace rondo {

struct CrossEntropy {
  Variable total;  // the sum, in nats, [1]
  Tensor each;     // of each row, in nats, [N]; 0 for an ignored row
};

/// total = sum_r l_r, l_r = -log softmax(z_r)[targets[r]], with logits z_r = x_r W^T + b. x [.., H] with N
/// rows, W [V, H] as PyTorch lays it out, b [V] or undefined, N targets. A row of target -1 is ignored: it
/// costs no time, has loss 0 and gets no gradient, and its x may be anything, even NaN. Beyond one block it
/// stores the result and, when recording, the gradients of the inputs that need one: backward only scales and
/// adds them. Throws Error if shapes do not fit or a target is not in [-1, V).
///
/// Where targets may be others in a replay (Indices::may_change()), ignored rows are computed as well, and
/// their x must be finite.
///
/// Label smoothing, Szegedy et al. 2016 ("Rethinking the Inception Architecture"), section 7: the target
/// distribution is 1 - e on the target y, and e, `smoothing`, spread evenly over all V. In the total
/// (1 - e) l + e mean over v of -log softmax(z)[v]  =  l + e (z_y - mean over v of z_v)  replaces l; `each`
/// stays l. Throws Error unless 0 <= e < 1.
CrossEntropy linear_cross_entropy(const Variable& x, const Variable& weight, const Variable& bias,
                                  const Tokens& targets, double smoothing = 0);

/// The same for a mixture of K softmaxes (Yang et al. 2018): a row of x [.., K H] holds the inputs x_k of the
/// experts side by side, and a row of log_prior [N, K] the logs of their weights pi_k.
///   -log p(y) = -log sum_k pi_k softmax(x_k W^T + b)[y] = -log sum_k exp(log_prior_k - l_k),
/// where l_k is the loss of expert k alone. So it uses the same blocks of logits, each for all experts of
/// some rows: the gradient of expert k's logits is its posterior, exp(log_prior_k - l_k) / p(y), times the
/// gradient of l_k, and the gradient of log_prior_k is minus its posterior. Ignored rows, memory and errors
/// as above; K is the number of columns of log_prior.
CrossEntropy mixture_cross_entropy(const Variable& x, const Variable& log_prior, const Variable& weight,
                                   const Variable& bias, const Tokens& targets);

/// The height of the blocks of logits [height, V], for `rows` scored rows with K experts each.
int64_t cross_entropy_block_rows(int64_t rows, int64_t V, int64_t K = 1, Device device = Device::cpu);

}  // namespace rondo

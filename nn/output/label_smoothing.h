// Label smoothing, Szegedy et al. 2016 ("Rethinking the Inception Architecture"), section 7: the target
// distribution is (1 - e) on the true symbol, and e spread evenly over all V. With logits z = x W^T + b, and
// l = -log softmax(z)[y], the loss of a row is
//   (1 - e) l + e mean over v of -log softmax(z)[v]  =  l + e (z_y - mean over v of z_v),
// and mean_v z_v = x . mean_v W_v + mean_v b_v, so that neither needs the [N, V] matrix of logits.
#pragma once

#include "autograd/cross_entropy.h"

namespace rondo {

/// linear_cross_entropy() whose total is smoothed by `smoothing`, e; `each` is -log p(target) as it is. Rows
/// with target -1 are ignored, as there.
CrossEntropy smoothed_cross_entropy(const Variable& x, const Variable& weight, const Variable& bias,
                                    const Tokens& targets, double smoothing);

}  // namespace rondo

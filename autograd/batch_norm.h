// Batch normalisation, Ioffe & Szegedy 2015: the statistics of a batch with their gradient, and the
// normalisation by statistics, whichever they are. It deliberately keeps no statistics: that is
// nn/layers/batch_norm.h. Next: the operator BatchNormalization in autograd/operators.h.
#pragma once

#include "autograd/functions.h"

namespace rondo {

struct ColumnMoments {
  Variable mean, variance;  // [columns]
};

/// The mean and the biased variance of each column of x over the chosen rows; the others are not read. Throws
/// Error if no row is chosen.
ColumnMoments column_moments(const Variable& x, const RowMask& chosen = {});

/// gamma (x - mean) / sqrt(variance + 1e-5) + beta, column by column; beta is a vector, or a matrix like x.
/// Where the statistics are the batch's, the gradient flows through them, too.
///
/// A column that does not vary (variance below 1e-8: rounding) is beta, and gives x no gradient. This is what
/// U h is at the first step, from a zero state, and W x wherever the rows agree. The derivative would be
/// 1 / sqrt(1e-5) = 316 there, however little the column can tell, and a product of such factors over the
/// steps explodes.
Variable batch_normalization(const Variable& x, const ColumnMoments& statistics, const Variable& gamma,
                             const Variable& beta);

}  // namespace rondo

// Normalisation of rows by their own mean and variance (layer normalisation, Ba, Kiros & Hinton 2016), and of
// columns by the statistics of a batch (batch normalisation, Ioffe & Szegedy 2015), with the gradients of the
// statistics. The modules, and running statistics: nn/layers/normalization.h. Next: the operator
// BatchNormalization in autograd/operators/functions.h.
#pragma once

#include "autograd/functions.h"

namespace rondo {

/// weight (x - mean) / sqrt(variance + epsilon) + bias, mean and biased variance of each row of x [.., W];
/// weight and bias [W]. Equation (4) of the paper, with PyTorch's epsilon.
Variable layer_norm(const Variable& x, const Variable& weight, const Variable& bias,
                    real epsilon = real(1e-5));
/// Returns layer_norm() without weight and bias.
Variable normalized_rows(const Variable& x, real epsilon = real(1e-5));

struct ColumnMoments {
  Variable mean, variance;  // [columns]
};

/// The mean and the biased variance of each column of x. Throws Error if it has no row.
ColumnMoments column_moments(const Variable& x);

/// gamma (x - mean) / sqrt(variance + 1e-5) + beta, column by column; beta is a vector, or a matrix like x.
/// If the statistics are those of the batch, the gradient flows through them, too.
///
/// A constant column (variance below 1e-8, which is rounding) gives beta, and x gets no gradient from it. U h
/// is constant at the first step from an initial state, and W x if all rows agree. The derivative there would
/// be 1 / sqrt(1e-5) = 316, although the column carries no information, and a product of such factors over
/// the steps explodes.
Variable batch_normalization(const Variable& x, const ColumnMoments& statistics, const Variable& gamma,
                             const Variable& beta);

}  // namespace rondo

// Layer normalisation, Ba, Kiros & Hinton 2016: each row by its own mean and variance. The module:
// nn/layers/layer_norm.h. With the statistics of a batch: autograd/batch_norm.h.
#pragma once

#include "autograd/variable.h"

namespace rondo {

/// weight (x - mean) / sqrt(variance + epsilon) + bias, mean and biased variance of each row of x [.., W];
/// weight and bias [W]. Equation (4) of the paper, with PyTorch's epsilon.
Variable layer_norm(const Variable& x, const Variable& weight, const Variable& bias,
                    real epsilon = real(1e-5));
/// The same without weight and bias.
Variable normalized_rows(const Variable& x, real epsilon = real(1e-5));

}  // namespace rondo

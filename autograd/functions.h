// Operators that mix elements: embedding, joining, reshaping, sums, softmax and its loss, dropout,
// normalisation.
// Pointwise operators: autograd/operators.h. Products: autograd/linear.h. Operators for sequences:
// autograd/sequence.h. Slices are methods of Variable.
#pragma once

#include <vector>

#include "autograd/variable.h"
#include "tensor/random.h"

namespace rondo {

/// Token ids that the graph can share.
inline Tokens tokens(std::vector<int32_t> ids) { return std::make_shared<const Indices>(std::move(ids)); }

/// Rows of x [.., W] by index, counted through all leading dimensions: [count, W]. x may be a slice, and a
/// row may occur several times. Throws Error for an index out of range.
Variable gather_rows(const Variable& x, const Tokens& rows);
/// Rows of a table [V, E] by token id: [count, E]. Throws Error if an id is not in [0, V).
Variable embedding(const Variable& table, const Tokens& ids);

/// A constant [count, V] of zeros with a 1 in column id of each row. Throws Error if an id is not in [0, V).
Variable one_hot(const Tokens& ids, int64_t V, Device device = Device::cpu);

/// The parts concatenated along the last dimension, [.., sum of columns]; their rows must agree.
Variable concat(const std::vector<Variable>& parts);
/// The parts along a new first dimension: [count, ...]; their shapes must agree. A view if they are
/// consecutive in memory, else a copy.
Variable stack(const std::vector<Variable>& parts);
/// The rows of matrices of equal width, one matrix after the other: [sum of rows, columns]. A view as above.
Variable concat_rows(const std::vector<Variable>& parts);
/// Each row times its factor: x [.., W] with N rows, constant factors [N].
Variable scale_rows(const Variable& x, const Tensor& factors);
/// The same elements in another shape.
Variable reshape(const Variable& x, Shape shape);

/// h_t = a_t h_(t-1) + b_t for all steps of a and b [T, B, H], from h_0 [B, H], in one pass: [T, B, H].
/// scan_into() of autograd/pointwise.h does the same for other operators.
Variable scan(const Variable& a, const Variable& b, const Variable& h0);

/// The sum and the mean of all elements, [1].
Variable sum(const Variable& x);
Variable mean(const Variable& x);

/// Softmax over the last dimension of x, and its logarithm.
Variable softmax(const Variable& x);
Variable log_softmax(const Variable& x);
/// -log softmax(x)[target] for each row, in nats: x [N, V], N targets; [N]. A target of -1 gives loss 0 and
/// no gradient. linear_cross_entropy() includes the output layer and needs less
/// memory.
Variable cross_entropy(const Variable& logits, const Tokens& targets);

/// x times a mask of 0 and 1 / (1 - probability), element by element. Probability 0 gives x itself.
/// Srivastava et al. 2014, scaled at training time.
Variable dropout(const Variable& x, DropRate probability, RandomKey key, BatchSlice slice);

// --- Normalisation ---
// Of rows by their own mean and variance (layer normalisation, Ba, Kiros & Hinton 2016), and of
// columns by the statistics of a batch (batch normalisation, Ioffe & Szegedy 2015), with the gradients of the
// statistics. The modules, and running statistics: nn/layers/normalization.h. Next: the operator
// BatchNormalization in autograd/operators/functions.h.

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

// Operators that mix elements: embedding, joining, reshaping, sums, softmax and its loss, dropout.
// It deliberately holds nothing pointwise (autograd/operators.h) and no products (autograd/linear.h). Slices
// are methods of Variable. More of them, for sequences: autograd/sequence.h.
#pragma once

#include <vector>

#include "autograd/variable.h"
#include "tensor/random.h"

namespace rondo {

/// Shares token ids with the graph.
inline Tokens tokens(std::vector<int32_t> ids) { return std::make_shared<const Indices>(std::move(ids)); }

/// Rows of a table [V, E] by token id: [count, E]. Throws Error if an id is not in [0, V).
Variable embedding(const Variable& table, const Tokens& ids);

/// A constant [count, V] of zeros with a 1 in column id of each row. Throws Error if an id is not in [0, V).
Variable one_hot(const Tokens& ids, int64_t V, Device device = Device::cpu);

/// Side by side, [.., sum of columns]; the rows must agree.
Variable concat(const std::vector<Variable>& parts);
/// One behind another along a new first dimension: [count, ...]; the shapes must agree. A view where they lie
/// so in memory, else a copy.
Variable stack(const std::vector<Variable>& parts);
/// Which rows of a batch hold something, shared with the graph; null: all of them.
using RowMask = std::shared_ptr<const std::vector<bool>>;
/// Row by row: that of a where it is chosen, else that of b, or zeros if b is undefined. Nothing is
/// multiplied: what is not chosen, NaN too, changes neither the value nor a gradient.
Variable select_rows(const RowMask& chosen, const Variable& a, const Variable& b = {});
/// Each row times its number: x [.., W] with N rows, factors [N], which are constants.
Variable scale_rows(const Variable& x, const Tensor& factors);
/// The same elements in another shape.
Variable reshape(const Variable& x, Shape shape);

/// The sum and the mean of all elements, [1].
Variable sum(const Variable& x);
Variable mean(const Variable& x);

/// Over the last dimension of x.
Variable softmax(const Variable& x);
Variable log_softmax(const Variable& x);
/// -log softmax(x)[target] for each row, in nats: x [N, V], N targets; [N]. A target of -1 gives loss 0 and
/// no gradient. With the output layer before it, in less memory: linear_cross_entropy().
Variable cross_entropy(const Variable& logits, const Tokens& targets);

/// x times a mask of 0 and 1 / (1 - probability), element by element. Probability 0 gives x itself.
/// Srivastava et al. 2014, scaled at training time.
Variable dropout(const Variable& x, double probability, RandomKey key, BatchSlice slice);

}  // namespace rondo

// Operators of sequence models: rows by index, exchanged dimensions, a dimension more or less, softmax over
// rows of many lengths. Batches of products are in autograd/linear.h, what mixes elements otherwise in
// autograd/functions.h. Next: nn/layers/attention.h, which is made of them.
#pragma once

#include <vector>

#include "autograd/functions.h"

namespace rondo {

/// Steps of each row of a batch that are no padding, from its first on; empty: all steps of all rows.
using Lengths = std::vector<int64_t>;
/// Throws Error, naming the operator, unless there are none, or as many as rows and each from 0 to `steps`.
void check_lengths(const char* name, const Lengths& lengths, int64_t rows, int64_t steps);
/// Which rows of [T, B, ..] are no padding, step by step; null: all of them.
RowMask rows_within(const Lengths& lengths, int64_t T, int64_t B);

/// Rows of x [.., W] by index, counted through all leading dimensions: [count, W]. x may be a slice, and a
/// row may be asked for many times. Throws Error if a row is not there.
Variable gather_rows(const Variable& x, const Tokens& rows);
/// Of each row of a batch one step, such as its last: x [T, B, W], B steps from 0 to T - 1; [B, W].
Variable gather_steps(const Variable& x, const std::vector<int64_t>& steps);

/// The first two dimensions exchanged, [A, B, W] to [B, A, W]: time before batch, or after it. A matrix
/// [A, B] is transposed.
Variable transpose_first_two(const Variable& x);

/// x as often along a new first dimension: [..] to [count, ..].
Variable repeat(const Variable& x, int64_t count);
/// The sum over the first dimension: [A, ..] to [..].
Variable sum_over_first(const Variable& x);

/// Over the first lengths[b] elements of the last dimension of x [B, .., S], and exactly 0 behind them,
/// whatever lies there, NaN too; all 0 where the length is 0. Without lengths it is softmax(x).
Variable softmax(const Variable& x, const Lengths& lengths);

}  // namespace rondo

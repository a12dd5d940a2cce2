// Operators of sequence models: rows by index, exchanged, added and summed dimensions, the maximum over time,
// softmax over rows of different lengths. Batches of products: autograd/linear.h. Other operators that mix
// elements: autograd/functions.h. Next: nn/layers/attention.h, which uses them.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "autograd/functions.h"

namespace rondo {

/// The lists that kernels of a GPU read in place of the lengths of sequences [T, B] with padding.
struct StagedLengths {
  Tokens counts;            // their lengths, [B]
  Tokens last;              // the row of each one's last step, [B]
  Tokens within, reversed;  // [T * B]: each row itself, or that as far from the end; in the padding -1
};
/// The valid length of each sequence of a batch; empty: no padding.
struct Lengths : std::vector<int64_t> {
  using std::vector<int64_t>::vector;
  Lengths(std::vector<int64_t> lengths) : std::vector<int64_t>(std::move(lengths)) {}  // implicit on purpose
  /// Takes lengths from 1 to T, with their lists of staged_lists(), which begin at `first`; if `lists` ends
  /// before it, on the host only. Throws Error if these are the lists of other lengths.
  Lengths(std::vector<int64_t> lengths, const std::vector<Tokens>& lists, size_t first);

  /// The lengths for kernels of a device, [B].
  Tokens counts() const;

  /// If this is not null, the padding is computed as well, from finite numbers, and nobody reads what comes
  /// of it: the launches do not depend on the lengths, so that a GPU can replay them.
  std::shared_ptr<const StagedLengths> staged{};
};
/// The members of StagedLengths, in order.
std::vector<std::vector<int32_t>> staged_lists(const std::vector<int64_t>& lengths, int64_t T);
/// Throws Error, naming the operator, unless `lengths` is empty or has one length from 0 to `steps` per row.
void check_lengths(const char* name, const Lengths& lengths, int64_t rows, int64_t steps);
/// A partial one-to-one map of rows: row i of the result is row from[i], or zeros if that is -1. `to` is the
/// inverse.
class RowMap {
 public:
  /// Maps so many rows. Throws Error for an index out of range, and if a row occurs twice.
  RowMap(std::vector<int32_t> from, int64_t rows);
  /// Makes a map that is its own inverse.
  explicit RowMap(const Tokens& both) : RowMap(both, both) {}
  RowMap inverse() const { return {to_, from_}; }
  const Tokens& from() const { return from_; }
  const Tokens& to() const { return to_; }

 private:
  RowMap(Tokens from, Tokens to) : from_(std::move(from)), to_(std::move(to)) {}
  Tokens from_, to_;
};
/// The rows of x [.., W] by a map, counted through all leading dimensions: [count, W]. What is left out has
/// no effect, even NaN. Throws Error unless the map is of as many rows.
Variable map_rows(const Variable& x, const RowMap& map);
/// Those rows of [T, B, ..] that are no padding.
RowMap rows_within(const Lengths& lengths, int64_t T, int64_t B);

/// The first two dimensions exchanged, [A, B, W] to [B, A, W]: time before batch, or after it. A matrix
/// [A, B] is transposed.
Variable transpose_first_two(const Variable& x);

/// Repeats x along a new first dimension: [..] to [count, ..].
Variable repeat(const Variable& x, int64_t count);
/// The sum over the first dimension: [A, ..] to [..].
Variable sum_over_first(const Variable& x);
/// The largest of the first lengths[b] elements of x [T, B, W] along its first dimension, [B, W]; without
/// lengths of all T. What lies behind them has no effect, even NaN; of equal elements the first gets the
/// gradient. Throws Error for a length of 0.
Variable max_over_first(const Variable& x, const Lengths& lengths = {});

/// Over the first lengths[b] elements of the last dimension of x [B, .., S]; the others become exactly 0,
/// whatever they contain, even NaN. A length of 0 gives a row of zeros. Without lengths it is softmax(x).
Variable softmax(const Variable& x, const Lengths& lengths);

}  // namespace rondo

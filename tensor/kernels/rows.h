// Kernels that move whole rows: by index, one-hot, exchanged dimensions; and those along time.
#pragma once

#include "tensor/indices.h"
#include "tensor/kernels/kernel.h"

namespace rondo {

/// to[i] = table[rows[i]], or zeros where rows[i] is -1.
struct GatherRows {
  static constexpr auto visit = Visit::elements;
  Operand table;
  const int32_t* rows;
  Operand to;
  HD void operator()(auto row, int64_t i, int64_t begin) const {
    real* out = row_of(to, i) + begin;
    if (rows[i] >= 0)
      copy_row(row, out, row_of(table, rows[i]) + begin);
    else
      fill_row(row, out, 0);
  }
};

/// table[rows[i]] += x[i], in the order of i, on a GPU. Launched with the size of x; rows that repeat leave
/// some segments empty.
struct AccumulateRows {
  static constexpr auto visit = Visit::elements;
  Operand x;
  SortedRows sorted;
  Operand table;
  HD void operator()(auto row, int64_t segment, int64_t begin) const {
    const int64_t first = sorted.starts[segment], count = sorted.starts[segment + 1] - first;
    if (count == 0) return;
    const int32_t* order = sorted.order + first;
    row.add_rows(row_of(table, sorted.rows[order[0]]) + begin, count,
                 [=, this](int64_t i) { return row_of(x, order[i]) + begin; });
  }
};

/// The same on a CPU: reads x once, in order, and needs no sorted rows. Launched with the size of x.
struct AccumulateRowsInOrder {
  static constexpr auto visit = Visit::columns;
  Operand x;
  const int32_t* rows;
  int64_t count;
  Operand table;
  HD void operator()(auto row, int64_t begin) const {
    for (int64_t i = 0; i < count; ++i) add_row(row, row_of(table, rows[i]) + begin, row_of(x, i) + begin);
  }
};

/// to[r, columns[r]] = 1, the rest 0.
struct OneHot {
  static constexpr auto visit = Visit::rows;
  const int32_t* columns;
  Operand to;
  HD void operator()(auto row, int64_t r) const {
    real* out = row_of(to, r);
    fill_row(row, out, 0);
    if (row.owns(columns[r])) out[columns[r]] = 1;
  }
};

/// to[j * first + i] = from[i * second + j].
struct TransposeFirstTwo {
  static constexpr auto visit = Visit::elements;
  Operand from;
  int64_t first, second;
  Operand to;
  HD void operator()(auto row, int64_t r, int64_t begin) const {
    const int64_t i = r % first, j = r / first;
    copy_row(row, row_of(to, r) + begin, row_of(from, i * second + j) + begin);
  }
};

using RowKernels = KernelList<GatherRows, AccumulateRows, AccumulateRowsInOrder, OneHot, TransposeFirstTwo>;

// --- Along time, the first dimension of [T, B, W] ---

/// y[b, j] = max over t < lengths[b] of x[t * batch + b, j], every length being 1 or more. Launched with the
/// size of y.
struct MaxOverFirst {
  static constexpr auto visit = Visit::elements;
  Operand x;
  const int32_t* lengths;
  int64_t batch;
  Operand y;
  HD void operator()(auto row, int64_t b, int64_t begin) const {
    real* to = row_of(y, b) + begin;
    copy_row(row, to, row_of(x, b) + begin);
    for (int64_t t = 1; t < lengths[b]; ++t)
      row.map(
          to, [](auto largest, auto v) { return max(largest, v); }, to, row_of(x, t * batch + b) + begin);
  }
};

/// dx = rest where x is the maximum y, else 0, also in the padding up to `steps`. `rest` holds dy at the
/// start and becomes 0 at the first maximum, so that of equal elements only the first gets the gradient.
struct MaxOverFirstBackward {
  static constexpr auto visit = Visit::elements;
  Operand x, y, rest;
  const int32_t* lengths;
  int64_t steps, batch;
  Operand dx;
  HD void operator()(auto row, int64_t b, int64_t begin) const {
    real* left = row_of(rest, b) + begin;
    const auto zero = row.repeated(0);
    for (int64_t t = 0; t < steps; ++t) {
      real* to = row_of(dx, t * batch + b) + begin;
      if (t < lengths[b]) {
        row.map(
            to, [=](auto v, auto largest, auto gradient) { return select(v >= largest, gradient, zero); },
            row_of(x, t * batch + b) + begin, row_of(y, b) + begin, left);
        row.map(
            left, [](auto gradient, auto taken) { return gradient - taken; }, left, to);
      } else {
        fill_row(row, to, 0);
      }
    }
  }
};

using SequenceKernels = KernelList<MaxOverFirst, MaxOverFirstBackward>;

}  // namespace rondo

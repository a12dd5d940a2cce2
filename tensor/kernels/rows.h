// Kernels that move whole rows: by index, one-hot, exchanged dimensions.
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

}  // namespace rondo

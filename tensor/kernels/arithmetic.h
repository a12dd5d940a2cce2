// Kernels that fill, copy, scale and add, also down columns, within blocks and along rows.
#pragma once

#include "tensor/backend.h"
#include "tensor/kernels/kernel.h"
#include "tensor/products/bf16.h"

namespace rondo {

struct Fill {
  static constexpr auto visit = Visit::elements;
  Operand to;
  real value;
  HD void operator()(auto row, int64_t r, int64_t begin) const {
    fill_row(row, row_of(to, r) + begin, value);
  }
};

struct Copy {
  static constexpr auto visit = Visit::elements;
  Operand from, to;
  HD void operator()(auto row, int64_t r, int64_t begin) const {
    copy_row(row, row_of(to, r) + begin, row_of(from, r) + begin);
  }
};

/// Copies several matrices, of any sizes, in one launch over the rows of all of them.
struct CopySeveral {
  static constexpr auto visit = Visit::rows;
  static constexpr int most = 8;
  struct Part {
    Operand from, to;
    int64_t columns = 0, end = INT64_MAX;  // the first row of the next part
  };
  Part parts[most];
  HD void operator()(auto row, int64_t r) const {
    Part part = parts[0];
    int64_t begin = 0;
    for (int i = 1; i < most; ++i)  // constant indices on a GPU, which cannot index registers
      if (r >= parts[i - 1].end) {
        begin = parts[i - 1].end;
        part = parts[i];
      }
    copy_row(row.with_columns(part.columns), row_of(part.to, r - begin), row_of(part.from, r - begin));
  }
};

/// to = x [.., columns] rounded to bfloat16, then zeros to the end of the rows of `to`, `row_stride` numbers
/// of 16 bits, which the kernel is launched on.
struct RoundToBf16 {
  static constexpr auto visit = Visit::elements;
  Operand x;
  uint16_t* to;
  int64_t columns, row_stride;
  HD void operator()(auto row, int64_t r, int64_t begin) const {
    const real* from = row_of(x, r) + begin;
    uint16_t* out = to + r * row_stride + begin;
    const int64_t there = columns - begin;
    row.for_each([=](int64_t j) { out[j] = j < there ? bf16(from[j]) : uint16_t{0}; });
  }
};

/// to += factor * x.
struct Accumulate {
  static constexpr auto visit = Visit::elements;
  Operand x, to;
  Deferred<real> factor;
  HD void operator()(auto row, int64_t r, int64_t begin) const {
    const auto f = row.repeated(factor.now());
    real* out = row_of(to, r) + begin;
    row.map(
        out, [=](auto a, auto b) { return a + f * b; }, out, row_of(x, r) + begin);
  }
};

/// to = factor * x, which may be `to` itself.
struct Scale {
  static constexpr auto visit = Visit::elements;
  Operand x, to;
  Deferred<real> factor;
  HD void operator()(auto row, int64_t r, int64_t begin) const {
    const auto f = row.repeated(factor.now());
    row.map(
        row_of(to, r) + begin, [=](auto a) { return a * f; }, row_of(x, r) + begin);
  }
};

/// y[r] = factors[r] * x[r].
struct ScaleRows {
  static constexpr auto visit = Visit::elements;
  Operand x;
  const real* factors;
  Operand y;
  HD void operator()(auto row, int64_t r, int64_t begin) const {
    const auto f = row.repeated(factors[r]);
    row.map(
        row_of(y, r) + begin, [=](auto v) { return v * f; }, row_of(x, r) + begin);
  }
};

/// to[i] = 1 / counts[i].
struct Reciprocals {
  static constexpr auto visit = Visit::elements;
  const int32_t* counts;
  real* to;
  HD void operator()(auto row, int64_t /*r*/, int64_t begin) const {
    const int32_t* of = counts + begin;
    real* out = to + begin;
    row.for_each([=](int64_t j) { out[j] = 1 / static_cast<real>(of[j]); });
  }
};

/// to[i, j] += sum_r x[r, j] over the rows [i * height, (i + 1) * height) of x, which has `rows`; or `to` is
/// that sum, if it does not add. Launched with the size of `to`.
struct ColumnSums {
  static constexpr auto visit = Visit::elements;
  Operand x;
  int64_t rows, height;
  bool adds;
  Operand to;
  int64_t terms() const { return height; }
  HD void operator()(auto row, int64_t block, int64_t begin) const {
    const int64_t first = block * height, count = rows - first < height ? rows - first : height;
    real* sums = row_of(to, block) + begin;
    if (!adds) fill_row(row, sums, 0);
    row.add_rows(sums, count, [=, this](int64_t i) { return row_of(x, first + i) + begin; });
  }
};

/// The sums of blocks of x, or of its squares. Launched with a row for each block; the last block ends with
/// the `count` elements of x.
struct PartialSums {
  static constexpr auto visit = Visit::rows;
  const real* x;
  int64_t count;
  bool squares;
  real* sums;
  HD void operator()(auto row, int64_t b) const {
    const int64_t begin = b * row.columns;
    const auto block = row.with_columns(count - begin < row.columns ? count - begin : row.columns);
    const real total = squares ? block.sum([](auto v) { return v * v; }, x + begin)
                               : block.sum([](auto v) { return v; }, x + begin);
    if (row.first()) sums[b] = total;
  }
};

using ArithmeticKernels = KernelList<Fill, Copy, CopySeveral, RoundToBf16, Accumulate, Scale, ScaleRows,
                                     Reciprocals, ColumnSums, PartialSums>;

}  // namespace rondo

// What a kernel is: a struct of its operands whose body computes on rows, for both devices. The kernels, with
// many examples: tensor/kernels/kernels.h. How they are run: tensor/kernels/launch.h.
//
// A body is `HD void operator()(auto row, ...) const`. `row` is a Row of tensor/simd/cpu_row.h: a number of
// columns, and the loops over them (map(), sum(), maximum() and others). The functions that a body gives to a
// loop compute on several elements at once; they use + - * /, sqrt exp log log1p tanh sigmoid abs, max
// min and select. On a GPU a block of threads shares a row, and each of them runs the body: what is done
// outside the loops and changes memory is done by one of them (first(), owns()), and what one of them has
// written another may read only after wait() or a reduction, such as sum().
#pragma once

#include <cstdint>

#include "tensor/backend.h"
#include "tensor/lists.h"
#include "tensor/simd/scalar.h"

namespace rondo {

/// What one call of a body computes; calls may run at the same time, in any order.
enum class Visit {
  rows,      // body(row, r): the whole row r
  elements,  // body(row, r, begin): the columns [begin, begin + row.columns) of row r
  columns,   // body(row, begin): the columns [begin, begin + row.columns) of all rows
};

HD real* row_of(Operand x, int64_t r) { return x.data + r * x.row_stride; }

// Of a row: all elements become `value`; become those at `from`; have these added.
HD void fill_row(auto row, real* to, real value) {
  const auto repeated = row.repeated(value);
  row.map(to, [=] { return repeated; });
}
HD void copy_row(auto row, real* to, const real* from) {
  row.map(
      to, [](auto v) { return v; }, from);
}
HD void add_row(auto row, real* to, const real* from) {
  row.map(
      to, [](auto sum, auto v) { return sum + v; }, to, from);
}

/// A list of kernel types. Rondo's are at the end of each file of tensor/kernels/.
template <class... Types>
struct KernelList {};

/// Runs the kernel at an address on a matrix of the given size.
using KernelLauncher = void (*)(const void* kernel, Extent extent);

}  // namespace rondo

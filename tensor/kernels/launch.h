// Runs kernels (tensor/kernels/kernel.h) on the device of the current pass: launch_rows() for work along
// rows, launch_elements() for work element by element, launch_columns() for work down columns. What a row is:
// tensor/simd/cpu_row.h, tensor/simd/gpu_row.h. Only .cc files include it. The order of all sums depends only
// on the shape, so that a run is repeatable bit for bit. Next: tensor/kernels/kernels.h,
// tensor/kernels/pointwise_kernels.h.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "tensor/kernels/kernel.h"
#ifdef __CUDACC__
#include "tensor/simd/gpu_row.h"
#else
#include "tensor/simd/cpu_row.h"
#include "tensor/threads.h"
#endif

namespace rondo {
namespace BACKEND {
namespace {  // because Lanes is in one: tensor/simd/vec.h

/// Fewer elements than this do not justify waking a second thread.
constexpr int64_t parallel_elements = 16384;

using Lanes = Row::Lanes;  // for pointwise operators

/// body(i) for each i below `count`: on a GPU a block of threads for each, on a CPU one thread.
template <class Body>
void launch_blocks(int64_t count, Extent extent, Body body) {
#ifdef __CUDACC__
  cuda::launch_blocks(count, extent.columns, body);
#else
  parallel_for(count, extent.rows * extent.columns >= parallel_elements, body);
#endif
}

template <class Kernel>
struct OnRow {
  Kernel kernel;
  int64_t columns;
  HD void operator()(int64_t r) const { kernel(Row{columns}, r); }
};
/// kernel(Row{columns}, r) for every row r.
template <class Kernel>
void launch_rows(Extent extent, Kernel kernel) {
  launch_blocks(extent.rows, extent, OnRow<Kernel>{kernel, extent.columns});
}

/// Runs a kernel on blocks of columns, block by block, row by row.
template <class Kernel>
struct OnParts {
  Kernel kernel;
  int64_t columns, width, blocks;
  HD void operator()(int64_t i) const {
    const int64_t begin = i % blocks * width;
    kernel(Row{columns - begin < width ? columns - begin : width}, i / blocks, begin);
  }
};
/// kernel(Row{width}, r, begin) for columns [begin, begin + width) of each row, for elementwise work: a
/// long row is divided into many blocks. A kernel that adds up many rows for an element says how many by
/// terms().
template <class Kernel>
void launch_elements(Extent extent, Kernel kernel) {
  int64_t terms = 1;
  if constexpr (requires { kernel.terms(); }) terms = kernel.terms();
  const int64_t width = Row::part_columns(terms);
  const int64_t blocks = (extent.columns + width - 1) / width;
  launch_blocks(extent.rows * blocks, {extent.rows * terms, extent.columns},
                OnParts<Kernel>{kernel, extent.columns, width, blocks});
}

template <class Kernel>
struct OnColumns {
  Kernel kernel;
  int64_t count, width;
  HD void operator()(int64_t block) const {
    const int64_t begin = block * width;
    kernel(Row{count - begin < width ? count - begin : width}, begin);
  }
};
/// kernel(Row{width}, begin) for blocks of columns [begin, begin + width).
template <class Kernel>
void launch_columns(Extent extent, Kernel kernel) {
  const int64_t width = Row::block_columns(extent.columns);
  const int64_t blocks = (extent.columns + width - 1) / width;
  launch_blocks(blocks, extent, OnColumns<Kernel>{kernel, extent.columns, width});
}

/// Runs a kernel, given by its address, as its type says.
template <class Kernel>
void launch_kernel(const void* address, Extent extent) {
  static_assert(std::is_trivially_copyable_v<Kernel>, "a kernel is a struct of pointers and numbers");
  const Kernel& kernel = *static_cast<const Kernel*>(address);
  if constexpr (Kernel::visit == Visit::rows)
    launch_rows(extent, kernel);
  else if constexpr (Kernel::visit == Visit::elements)
    launch_elements(extent, kernel);
  else
    launch_columns(extent, kernel);
}

template <class... Kernels>
constexpr std::array<KernelLauncher, sizeof...(Kernels)> launchers_of(KernelList<Kernels...>) {
  return {launch_kernel<Kernels>...};
}

}  // namespace
}  // namespace BACKEND
}  // namespace rondo

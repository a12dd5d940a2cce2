// Runs kernels (tensor/kernel.h) on the device of the current pass: launch_rows() for work along rows,
// launch_elements() for work element by element, launch_columns() for work down columns. Only .cc files
// include it. The order of all sums depends only on the shape, so that a run is repeatable bit for bit. Next:
// tensor/kernels.h, tensor/pointwise_kernels.h.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "tensor/kernel.h"
#include "tensor/random.h"
#ifdef __CUDACC__
#include "cuda/launch.h"
#else
#include "tensor/threads.h"
#include "tensor/vec.h"
#include "tensor/words.h"
#endif

namespace rondo {
namespace BACKEND {
namespace {  // because Lanes is in one: tensor/vec.h

/// Fewer elements than this do not justify waking a second thread.
constexpr int64_t parallel_elements = 16384;

/// Of block `number` of a key's random words, those that lie in [begin, end): to[i - begin] = f(word i).
template <class F>
HD void map_words_of_block(real* to, F f, RandomKey key, uint64_t number, uint64_t begin, uint64_t end) {
  const PhiloxBlock words = key.block(number);
  for (int i = 0; i < 4; ++i) {
    const uint64_t at = number * 4 + i;
    if (begin <= at && at < end) to[at - begin] = f(words.word[i]);
  }
}

#ifdef __CUDACC__

/// `columns` consecutive elements, processed by one block of threads.
struct Row {
  using Lanes = Scalar;
  int64_t columns;

  /// A row of another length, processed by the same threads.
  HD Row with_columns(int64_t count) const { return {count}; }
  /// x for each element.
  HD static Lanes repeated(real x) { return x; }
  /// Whether this is the first of the threads that share the row.
  HD static bool first() { return cuda::thread() == 0; }
  /// Whether this is the thread by which map() writes column j.
  HD static bool owns(int64_t j) { return j % cuda::threads() == cuda::thread(); }
  /// Until all of these threads have come here: what they wrote before may then be read.
  HD static void wait() { cuda::wait_for_block(); }

  /// f(j) for every column j, in any order.
  template <class F>
  HD void for_each(F f) const {
    for (int64_t j = cuda::thread(); j < columns; j += cuda::threads()) f(j);
  }

  /// to[j] = f(from[j]...) for every column j.
  template <class F, class... From>
  HD void map(real* to, F f, const From*... from) const {
    for (int64_t j = cuda::thread(); j < columns; j += cuda::threads()) to[j] = f(Scalar(from[j])...).value;
  }
  /// to[j] += row_at(0)[j] + ... + row_at(count - 1)[j], in this order.
  template <class RowAt>
  HD void add_rows(real* to, int64_t count, RowAt row_at) const {
    for (int64_t j = cuda::thread(); j < columns; j += cuda::threads()) {
      real total = to[j];
      for (int64_t i = 0; i < count; ++i) total += row_at(i)[j];
      to[j] = total;
    }
  }
  template <class F, class... From>
  HD real sum(F f, const From*... from) const {
    real total = 0;
    for (int64_t j = cuda::thread(); j < columns; j += cuda::threads()) total += f(Scalar(from[j])...).value;
    return cuda::block_sum(total);
  }
  /// map(), and the sum of what it wrote.
  template <class F, class... From>
  HD real map_and_sum(real* to, F f, const From*... from) const {
    real total = 0;
    for (int64_t j = cuda::thread(); j < columns; j += cuda::threads())
      total += to[j] = f(Scalar(from[j])...).value;
    return cuda::block_sum(total);
  }
  HD real maximum(const real* from) const {
    real largest = -INFINITY;
    for (int64_t j = cuda::thread(); j < columns; j += cuda::threads())
      largest = max(Scalar(from[j]), largest).value;
    return cuda::block_maximum(largest);
  }
  /// to[j] = f(word first + j of the key's random words).
  template <class F>
  HD void map_words(real* to, F f, RandomKey key, uint64_t first) const {
    const uint64_t end = first + columns;
    for (uint64_t block = first / 4 + cuda::thread(); block * 4 < end; block += cuda::threads())
      map_words_of_block(to, f, key, block, first, end);
  }
};

template <class Kernel>
struct OnRow {
  Kernel kernel;
  int64_t columns;
  HD void operator()(int64_t r) const { kernel(Row{columns}, r); }
};
template <class Kernel>
void launch_rows(Extent extent, Kernel kernel) {
  cuda::launch_blocks(extent.rows, OnRow<Kernel>{kernel, extent.columns});
}

#else

/// `columns` consecutive elements, processed by one thread, one register at a time.
struct Row {
  using Lanes = Vec;  // several elements at once
  int64_t columns;

  Row with_columns(int64_t count) const { return {count}; }
  HD static Lanes repeated(real x) { return x; }
  static bool first() { return true; }
  static bool owns(int64_t) { return true; }
  static void wait() {}

  /// f(j) for every column j, in any order.
  template <class F>
  void for_each(F f) const {
    for (int64_t j = 0; j < columns; ++j) f(j);
  }

  /// to[j] = f(from[j]...) for every column j.
  template <class F, class... From>
  void map(real* to, F f, const From*... from) const {
    int64_t j = 0;
    for (; j + Vec::size <= columns; j += Vec::size) f(Vec::load(from + j)...).store(to + j);
    if (j < columns) f(Vec::load(from + j, columns - j)...).store(to + j, columns - j);
  }
  /// to[j] += row_at(0)[j] + ... + row_at(count - 1)[j], in this order.
  template <class RowAt>
  void add_rows(real* to, int64_t count, RowAt row_at) const {
    for (int64_t i = 0; i < count; ++i)
      map(
          to, [](auto a, auto b) { return a + b; }, to, row_at(i));
  }
  /// The sum of f(from[j]...) over the columns.
  template <class F, class... From>
  real sum(F f, const From*... from) const {
    return sum_of([=](int64_t j, auto... count) { return f(Vec::load(from + j, count...)...); });
  }
  /// map(), and the sum of what it wrote.
  template <class F, class... From>
  real map_and_sum(real* to, F f, const From*... from) const {
    return sum_of([=](int64_t j, auto... count) {
      const Vec y = f(Vec::load(from + j, count...)...);
      y.store(to + j, count...);
      return y;
    });
  }
  real maximum(const real* from) const {
    Vec largest(-INFINITY);
    int64_t j = 0;
    for (; j + Vec::size <= columns; j += Vec::size) largest = max(Vec::load(from + j), largest);
    real result = -INFINITY;
    for (int i = 0; i < Vec::size; ++i) result = largest.lanes[i] >= result ? largest.lanes[i] : result;
    for (; j < columns; ++j) result = from[j] >= result ? from[j] : result;
    return result;
  }
  /// to[j] = f(word first + j of the key's random words).
  template <class F>
  void map_words(real* to, F f, RandomKey key, uint64_t first) const {
    const uint64_t end = first + columns;
    uint64_t block = first / 4;
    if (block * 4 < first) map_words_of_block(to, f, key, block++, first, end);
    for (; (block + Words::size) * 4 <= end; block += Words::size) {
      const auto number = [&](int i) { return block + static_cast<uint64_t>(i); };
      const auto words =
          key.blocks(Words::each([&](int i) { return static_cast<uint32_t>(number(i)); }),
                     Words::each([&](int i) { return static_cast<uint32_t>(number(i) >> 32); }));
      real* out = to + (block * 4 - first);
      for (int i = 0; i < Words::size; ++i)
        for (int j = 0; j < 4; ++j) out[4 * i + j] = f(words.word[j].lanes[i]);
    }
    for (; block * 4 < end; ++block) map_words_of_block(to, f, key, block, first, end);
  }

 private:
  /// The sum over the columns of the registers at(j), and of the last one's elements, at(j, count).
  template <class At>
  real sum_of(At at) const {
    Vec total(0);
    int64_t j = 0;
    for (; j + Vec::size <= columns; j += Vec::size) total = total + at(j);
    real result = 0;
    for (int i = 0; i < Vec::size; ++i) result += total.lanes[i];
    if (j < columns) {
      const Vec tail = at(j, columns - j);
      for (int64_t i = 0; i < columns - j; ++i) result += tail.lanes[i];
    }
    return result;
  }
};

/// kernel(Row{columns}, r) for every row r.
template <class Kernel>
void launch_rows(Extent extent, Kernel kernel) {
  parallel_for(extent.rows, extent.rows * extent.columns >= parallel_elements,
               [&](int64_t r) { kernel(Row{extent.columns}, r); });
}

#endif

using Lanes = Row::Lanes;  // for pointwise operators

/// Runs a kernel on blocks of columns, block by block, row by row.
template <class Kernel>
struct OnParts {
#ifdef __CUDACC__
  static constexpr int64_t width = 4 * cuda::block_threads;
#else
  static constexpr int64_t width = 16384;
#endif
  Kernel kernel;
  int64_t columns, blocks;
  HD void operator()(int64_t i) const {
    const int64_t begin = i % blocks * width;
    kernel(Row{columns - begin < width ? columns - begin : width}, i / blocks, begin);
  }
};
/// kernel(Row{width}, r, begin) for columns [begin, begin + width) of each row, for elementwise work: a
/// long row is divided into many blocks.
template <class Kernel>
void launch_elements(Extent extent, Kernel kernel) {
  const int64_t blocks = (extent.columns + OnParts<Kernel>::width - 1) / OnParts<Kernel>::width;
  const OnParts<Kernel> part_kernel{kernel, extent.columns, blocks};
  const int64_t count = extent.rows * blocks;
#ifdef __CUDACC__
  cuda::launch_blocks(count, part_kernel);
#else
  parallel_for(count, extent.rows * extent.columns >= parallel_elements, part_kernel);
#endif
}

template <class Kernel>
struct OnColumns {
  static constexpr int64_t width = 256;
  Kernel kernel;
  int64_t count;
  HD void operator()(int64_t block) const {
    const int64_t begin = block * width;
    kernel(Row{count - begin < width ? count - begin : width}, begin);
  }
};
/// kernel(Row{width}, begin) for blocks of columns [begin, begin + width).
template <class Kernel>
void launch_columns(Extent extent, Kernel kernel) {
  const OnColumns<Kernel> block_kernel{kernel, extent.columns};
  const int64_t blocks = (extent.columns + OnColumns<Kernel>::width - 1) / OnColumns<Kernel>::width;
#ifdef __CUDACC__
  cuda::launch_blocks(blocks, block_kernel);
#else
  parallel_for(blocks, extent.rows * extent.columns >= parallel_elements, block_kernel);
#endif
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

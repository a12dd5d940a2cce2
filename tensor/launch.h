// Runs kernels (tensor/kernel.h) on the device of the current pass: launch_rows() for work along rows,
// launch_elements() for work element by element, launch_columns() for work down columns. Only .cc files
// include it. The order of all sums depends only on the shape, so that a run is repeatable bit for bit. Next:
// tensor/kernels.h, tensor/pointwise_kernels.h.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "tensor/kernel.h"
#include "tensor/random.h"
#ifdef __CUDACC__
#include "cuda/launch.h"
#else
#include "tensor/threads.h"
#include "tensor/vec.h"
#endif

namespace rondo {
namespace BACKEND {
namespace {  // because Lanes is in one: tensor/vec.h

/// Fewer elements than this do not justify waking a second thread.
constexpr int64_t parallel_elements = 16384;

/// Of block `number` of a key's random words, those that lie in [begin, end):
/// to[i - begin] = f(word i, from[i - begin]...).
template <class F, class... From>
HD void map_words_of_block(real* to, F f, RandomKey key, uint64_t number, uint64_t begin, uint64_t end,
                           const From*... from) {
  const PhiloxBlock words = key.block(number);
  for (int i = 0; i < 4; ++i) {
    const uint64_t at = number * 4 + i;
    if (begin <= at && at < end) to[at - begin] = f(words.word[i], from[at - begin]...);
  }
}

#ifdef __CUDACC__

/// What a thread reads and writes at once, if it is aligned: `size` consecutive elements, of which `count`
/// are inside the row.
struct alignas(16) Piece {
  static constexpr int size = 16 / sizeof(real);
  real values[size];

  HD static bool is_whole(const real* at, int64_t count) {
    return count >= size && reinterpret_cast<uintptr_t>(at) % alignof(Piece) == 0;
  }
  HD static Piece load(const real* from, int64_t count) {
    if (is_whole(from, count)) return *reinterpret_cast<const Piece*>(from);
    Piece it{};
    for (int i = 0; i < size; ++i)
      if (i < count) it.values[i] = from[i];
    return it;
  }
  HD void store(real* to, int64_t count) const {
    if (is_whole(to, count)) return cuda::write_16_bytes(to, this);
    for (int i = 0; i < size; ++i)
      if (i < count) to[i] = values[i];
  }
  /// f(x...) for each element.
  template <class F, class... Pieces>
  HD static Piece map(F f, const Pieces&... x) {
    Piece it;
    for (int i = 0; i < size; ++i) it.values[i] = f(Scalar(x.values[i])...).value;
    return it;
  }
  /// f(word, x...) for each element and its random word.
  template <class F, class... Pieces>
  HD static Piece map_words(F f, const PhiloxBlock& words, const Pieces&... x) {
    Piece it;
    for (int i = 0; i < size; ++i) it.values[i] = f(words.word[i], x.values[i]...);
    return it;
  }
  /// combine(... combine(start, the first element) ..., the last element).
  template <class Combine>
  HD real fold(real start, int64_t count, Combine combine) const {
    for (int i = 0; i < size; ++i)
      if (i < count) start = combine(start, values[i]);
    return start;
  }
};

struct Sum {
  HD real operator()(real a, real b) const { return a + b; }
  HD Scalar operator()(Scalar a, Scalar b) const { return a + b; }
};
struct Larger {
  HD real operator()(real a, real b) const { return max(Scalar(b), Scalar(a)).value; }
};

/// `columns` consecutive elements, processed by one block of threads, which take pieces in turns.
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
  HD static bool owns(int64_t j) { return j / Piece::size % cuda::threads() == cuda::thread(); }
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
    for_each_piece([=](int64_t j, int64_t count) {
      Piece::map(f, Piece::load(from + j, count)...).store(to + j, count);
    });
  }
  /// to[j] += row_at(0)[j] + ... + row_at(count - 1)[j], in this order.
  template <class RowAt>
  HD void add_rows(real* to, int64_t count, RowAt row_at) const {
    for_each_piece([=](int64_t j, int64_t inside) {
      Piece total = Piece::load(to + j, inside);
      for (int64_t i = 0; i < count; ++i)
        total = Piece::map(Sum{}, total, Piece::load(row_at(i) + j, inside));
      total.store(to + j, inside);
    });
  }
  template <class F, class... From>
  HD real sum(F f, const From*... from) const {
    real total = 0;
    for_each_piece([&](int64_t j, int64_t count) {
      total = Piece::map(f, Piece::load(from + j, count)...).fold(total, count, Sum{});
    });
    return cuda::block_sum(total);
  }
  /// map(), and the sum of what it wrote.
  template <class F, class... From>
  HD real map_and_sum(real* to, F f, const From*... from) const {
    real total = 0;
    for_each_piece([&](int64_t j, int64_t count) {
      const Piece y = Piece::map(f, Piece::load(from + j, count)...);
      y.store(to + j, count);
      total = y.fold(total, count, Sum{});
    });
    return cuda::block_sum(total);
  }
  HD real maximum(const real* from) const {
    real largest = -INFINITY;
    for_each_piece([&](int64_t j, int64_t count) {
      largest = Piece::load(from + j, count).fold(largest, count, Larger{});
    });
    return cuda::block_maximum(largest);
  }
  /// to[j] = f(word first + j of the key's random words, from[j]...).
  template <class F, class... From>
  HD void map_words(real* to, F f, RandomKey key, uint64_t first, const From*... from) const {
    const uint64_t end = first + columns;
    if constexpr (Piece::size == 4)
      if (first % 4 == 0) {  // a block of words is a piece
        for_each_piece([=](int64_t j, int64_t count) {
          const PhiloxBlock words = key.block((first + j) / 4);
          Piece::map_words(f, words, Piece::load(from + j, count)...).store(to + j, count);
        });
        return;
      }
    for (uint64_t block = first / 4 + cuda::thread(); block * 4 < end; block += cuda::threads())
      map_words_of_block(to, f, key, block, first, end, from...);
  }

  class Kept;
  /// The elements of a row that is used several times.
  HD Kept keep(const real* from) const;

 private:
  /// f(j, count) for each piece of this thread, of which `count` elements, or all, are inside the row.
  template <class F>
  HD void for_each_piece(F f) const {
    for (int64_t j = cuda::thread() * Piece::size; j < columns; j += cuda::threads() * Piece::size)
      f(j, columns - j);
  }
};

/// A row that was read once, into registers. A longer row than fits into those of all threads (10,240 floats)
/// stays in memory.
class Row::Kept {
 public:
  HD Kept(Row row, const real* from) : row_(row), from_(from) {
    for_each([&](Piece& it, int64_t j, int64_t count) { it = Piece::load(from + j, count); });
  }

  HD real maximum() const {
    if (!in_registers()) return row_.maximum(from_);
    real largest = -INFINITY;
    for_each([&](const Piece& it, int64_t, int64_t count) { largest = it.fold(largest, count, Larger{}); });
    return cuda::block_maximum(largest);
  }
  template <class F>
  HD real sum(F f) const {
    if (!in_registers()) return row_.sum(f, from_);
    real total = 0;
    for_each([&](const Piece& it, int64_t, int64_t count) {
      total = Piece::map(f, it).fold(total, count, Sum{});
    });
    return cuda::block_sum(total);
  }
  /// The elements become f(element); returns their sum. `to` is memory for them, where they need it.
  template <class F>
  HD real replace_and_sum(real* to, F f) {
    if (!in_registers()) return row_.map_and_sum(to, f, std::exchange(from_, to));
    real total = 0;
    for_each([&](Piece& it, int64_t, int64_t count) {
      it = Piece::map(f, it);
      total = it.fold(total, count, Sum{});
    });
    return cuda::block_sum(total);
  }
  /// to[j] = f(element j) for every column j, by the threads of map().
  template <class F>
  HD void map(real* to, F f) const {
    if (!in_registers()) return row_.map(to, f, from_);
    for_each([&](const Piece& it, int64_t j, int64_t count) { Piece::map(f, it).store(to + j, count); });
  }

 private:
  static constexpr int most = 10;  // 40 registers in float

  HD bool in_registers() const { return row_.columns <= most * Piece::size * cuda::threads(); }
  template <class Self, class F>
  HD static void for_each_of(Self& self, F f) {
    if (!self.in_registers()) return;
#pragma unroll
    for (int i = 0; i < most; ++i) {  // constant indices, because registers have no others
      const int64_t j = (i * cuda::threads() + cuda::thread()) * Piece::size;
      if (j < self.row_.columns) f(self.pieces_[i], j, self.row_.columns - j);
    }
  }
  template <class F>
  HD void for_each(F f) {
    for_each_of(*this, f);
  }
  template <class F>
  HD void for_each(F f) const {
    for_each_of(*this, f);
  }

  Row row_;
  const real* from_;
  Piece pieces_[most];
};
HD Row::Kept Row::keep(const real* from) const { return {*this, from}; }

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
  /// to[j] = f(word first + j of the key's random words, from[j]...).
  template <class F, class... From>
  void map_words(real* to, F f, RandomKey key, uint64_t first, const From*... from) const {
    const uint64_t end = first + columns;
    uint64_t block = first / 4;
    if (block * 4 < first) map_words_of_block(to, f, key, block++, first, end, from...);
    constexpr int blocks = 16;  // the compiler computes them side by side
    for (; (block + blocks) * 4 <= end; block += blocks) {
      uint32_t words[4 * blocks];
      for (int i = 0; i < blocks; ++i) {
        const PhiloxBlock of = key.block(block + i);
        for (int j = 0; j < 4; ++j) words[4 * i + j] = of.word[j];
      }
      const uint64_t begin = block * 4 - first;
      real results[4 * blocks];  // not `to`, which may be one of `from`: the loop would not become SIMD
      for (int i = 0; i < 4 * blocks; ++i) results[i] = f(words[i], from[begin + i]...);
      for (int i = 0; i < 4 * blocks; ++i) to[begin + i] = results[i];
    }
    for (; block * 4 < end; ++block) map_words_of_block(to, f, key, block, first, end, from...);
  }

  class Kept;
  /// The elements of a row that is used several times.
  Kept keep(const real* from) const;

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

/// A row, which stays where it is: a core's cache holds it.
class Row::Kept {
 public:
  Kept(Row row, const real* from) : row_(row), from_(from) {}

  real maximum() const { return row_.maximum(from_); }
  template <class F>
  real sum(F f) const {
    return row_.sum(f, from_);
  }
  /// The elements become f(element), at `to`; returns their sum.
  template <class F>
  real replace_and_sum(real* to, F f) {
    return row_.map_and_sum(to, f, std::exchange(from_, to));
  }
  /// to[j] = f(element j) for every column j.
  template <class F>
  void map(real* to, F f) const {
    row_.map(to, f, from_);
  }

 private:
  Row row_;
  const real* from_;
};
inline Row::Kept Row::keep(const real* from) const { return {*this, from}; }

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
  static constexpr int64_t width = Piece::size * cuda::block_threads;
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

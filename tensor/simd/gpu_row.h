// A row on a GPU: consecutive elements, processed by one block of threads. The same on a CPU, with the
// comments of its functions: tensor/simd/cpu_row.h. Included by tensor/kernels/launch.h in the nvcc pass.
#pragma once

#include <cstdint>
#include <utility>

#include "cuda/launch.h"
#include "tensor/random.h"
#include "tensor/simd/scalar.h"

namespace rondo {
namespace BACKEND {
namespace {

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
  /// The width of the blocks into which launch_columns() divides all columns.
  static constexpr int64_t block_columns(int64_t) { return 256; }
  /// Into parts of this many columns launch_elements() divides a longer row: a piece for each thread.
  static constexpr int64_t part_columns(int64_t) { return Piece::size * cuda::block_threads; }
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
  /// f(piece, j, count) for each piece in registers.
  template <class F>
  HD void for_each(F f) const {
    if (!in_registers()) return;
#pragma unroll
    for (int i = 0; i < most; ++i) {  // constant indices, because registers have no others
      const int64_t j = (i * cuda::threads() + cuda::thread()) * Piece::size;
      if (j < row_.columns) f(pieces_[i], j, row_.columns - j);
    }
  }

  Row row_;
  const real* from_;
  mutable Piece pieces_[most];
};
HD Row::Kept Row::keep(const real* from) const { return {*this, from}; }

}  // namespace
}  // namespace BACKEND
}  // namespace rondo

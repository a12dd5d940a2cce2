// A row on a CPU: consecutive elements, processed by one thread. The same on a GPU: tensor/simd/gpu_row.h.
// Included by tensor/kernels/launch.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "tensor/random.h"
#include "tensor/simd/vec.h"
#include "tensor/threads.h"

namespace rondo {
namespace BACKEND {
namespace {  // because Lanes is in one: tensor/simd/vec.h

/// `columns` consecutive elements, processed by one thread, one register at a time.
struct Row {
  using Lanes = Vec;  // several elements at once
  /// Into parts of this many columns launch_elements() divides a longer row, if an element is a sum of so
  /// many terms.
  static int64_t part_columns(int64_t terms) {
    constexpr int64_t fewest = 256, numbers = 16384;
    return std::max(fewest, numbers / std::max<int64_t>(1, terms));
  }
  /// The width of the blocks into which launch_columns() divides `all` columns: at most 256, whole cache
  /// lines, and about equally many for each thread.
  static int64_t block_columns(int64_t all) {
    constexpr int64_t line = 64 / sizeof(real);
    const int64_t of_all_threads = 256 * threads();
    const int64_t blocks = std::max<int64_t>(1, (all + of_all_threads - 1) / of_all_threads) * threads();
    return std::max<int64_t>(1, (all + blocks * line - 1) / (blocks * line)) * line;
  }
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
    int64_t i = 0;
    for (; i + 4 <= count; i += 4)  // the sums are then loaded and stored less often
      map(
          to, [](auto sum, auto a, auto b, auto c, auto d) { return sum + a + b + c + d; }, to, row_at(i),
          row_at(i + 1), row_at(i + 2), row_at(i + 3));
    for (; i < count; ++i)
      map(
          to, [](auto sum, auto a) { return sum + a; }, to, row_at(i));
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
    constexpr int blocks = 16, size = 4 * blocks;  // which the compiler computes side by side
    for (int64_t begin = -static_cast<int64_t>(first % 4); begin < columns; begin += size) {
      uint32_t words[size];
      for (int i = 0; i < blocks; ++i) {
        const PhiloxBlock of = key.block((first + begin) / 4 + i);
        for (int j = 0; j < 4; ++j) words[4 * i + j] = of.word[j];
      }
      if (begin >= 0 && begin + size <= columns) {
        real results[size];  // not `to`, which may be one of `from`: the loop would not become SIMD
        for (int i = 0; i < size; ++i) results[i] = f(words[i], from[begin + i]...);
        for (int i = 0; i < size; ++i) to[begin + i] = results[i];
      } else {
        for (int i = 0; i < size; ++i)
          if (const int64_t j = begin + i; j >= 0 && j < columns) to[j] = f(words[i], from[j]...);
      }
    }
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

}  // namespace
}  // namespace BACKEND
}  // namespace rondo

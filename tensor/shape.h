// Shape: up to four extents, outermost first. Most functions treat a shape as a matrix: columns are the last
// extent, rows the product of the others. Sizes are checked here, when a shape is made: those that it gives,
// and bytes and offsets that are computed from them, do not overflow.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "tensor/error.h"

namespace rondo {

class Shape {
 public:
  static constexpr int max_dimensions = 4;

  Shape() = default;
  Shape(std::initializer_list<int64_t> extents) {
    check(extents.size() <= max_dimensions, "[shape] at most {} dimensions, got {}", max_dimensions,
          extents.size());
    for (int64_t extent : extents) extents_[dimensions_++] = extent;
    check_size();
  }

  int dimensions() const { return dimensions_; }
  int64_t operator[](int i) const {
    check(0 <= i && i < dimensions_, "[shape] a shape of {} dimensions has no extent {}", dimensions_, i);
    return extents_[i];
  }
  int64_t rows() const {
    int64_t product = 1;
    for (int i = 0; i + 1 < dimensions_; ++i) product *= extents_[i];
    return product;
  }
  int64_t columns() const { return dimensions_ > 0 ? extents_[dimensions_ - 1] : 1; }
  int64_t size() const { return rows() * columns(); }

  /// The shape with the first extent replaced; with one added in front; without the first; with the last
  /// replaced.
  Shape with_first(int64_t extent) const { return with(0, extent); }
  Shape with_leading(int64_t extent) const {
    check(dimensions_ < max_dimensions, "[shape] {} has no room for one more dimension", to_string());
    Shape shape{extent};
    for (int i = 0; i < dimensions_; ++i) shape.extents_[shape.dimensions_++] = extents_[i];
    shape.check_size();
    return shape;
  }
  Shape without_first() const {
    Shape shape;
    for (int i = 1; i < dimensions_; ++i) shape.extents_[shape.dimensions_++] = extents_[i];
    return shape;
  }
  Shape with_columns(int64_t extent) const { return with(dimensions_ - 1, extent); }

  bool operator==(const Shape&) const = default;

  std::string to_string() const;

 private:
  Shape with(int i, int64_t extent) const {
    static_cast<void>((*this)[i]);
    Shape shape = *this;
    shape.extents_[i] = extent;
    shape.check_size();
    return shape;
  }
  void check_size() const {
    constexpr int64_t most = int64_t{1} << 58;  // an exbibyte of floats
    int64_t product = 1;  // as if no extent were 0: the product of some of them is a size as well
    for (int i = 0; i < dimensions_; ++i) {
      const int64_t extent = extents_[i];
      check(extent >= 0, "[shape] extents are not negative, got {}", extent);
      check(!__builtin_mul_overflow(product, extent > 0 ? extent : 1, &product) && product <= most,
            "[shape] a tensor of more than {} numbers fits into no memory: make extent {}, which is {}, or "
            "another one smaller",
            most, i, extent);
    }
  }

  int dimensions_ = 0;
  std::array<int64_t, max_dimensions> extents_{};  // 0 beyond the last dimension
};

/// A block of a matrix: rows [row, row + rows), columns [column, column + columns).
struct Region {
  int64_t row = 0, rows = 0, column = 0, columns = 0;

  int64_t size() const { return rows * columns; }
  bool overlaps(const Region& other) const {
    return row < other.row + other.rows && other.row < row + rows && column < other.column + other.columns &&
           other.column < column + columns;
  }
  bool contains(const Region& other) const {
    return row <= other.row && other.row + other.rows <= row + rows && column <= other.column &&
           other.column + other.columns <= column + columns;
  }
  friend bool operator==(const Region&, const Region&) = default;
};

}  // namespace rondo

// Doxygen does not know the namespace fmt, and would warn.
/// @cond
template <>
struct fmt::formatter<rondo::Shape> {
  constexpr auto parse(format_parse_context& context) { return context.begin(); }
  format_context::iterator format(const rondo::Shape& shape, format_context& context) const;
};
/// @endcond

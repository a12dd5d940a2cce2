// Initial values of parameters: a small value, written into a recipe or beside a parameter.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tensor/random.h"
#include "tensor/tensor.h"

namespace rondo {

/// Draws the initial values of one parameter. A parameter of stacked gates is filled gate by gate where it
/// matters.
struct Initializer {
  enum class Kind { constant, uniform, normal, log_normal, orthogonal };
  Kind kind = Kind::constant;
  // The constant, the bound of the uniform, the deviation of the normal and of the logarithm of the
  // log-normal, the gain of the orthogonal.
  double size = 0;
  /// For orthogonal: how many blocks of equal height are stacked in the rows (4 for an LSTM's weight_hh), or
  /// the height of each.
  int blocks = 1;
  std::vector<int64_t> block_rows{};
  /// Then this is added to rows [from, to): an LSTM's forget bias.
  double offset = 0;
  int64_t offset_from = 0, offset_to = 0;
  /// For log_normal: the mean of the logarithm.
  double mean = 0;

  void fill(const Tensor& to, RandomKey key) const;
  /// For a weight whose rows are the stacked gates of a cell: orthogonal gate by gate.
  Initializer per_gate(int gates) const {
    Initializer result = *this;
    result.blocks = gates;
    return result;
  }
  /// The same for gates of these numbers of rows.
  Initializer per_gate(std::vector<int64_t> rows) const {
    Initializer result = *this;
    result.block_rows = std::move(rows);
    return result;
  }
};

inline Initializer constant_values(double value) { return {Initializer::Kind::constant, value}; }
inline Initializer uniform_values(double bound) { return {Initializer::Kind::uniform, bound}; }
inline Initializer normal_values(double deviation) { return {Initializer::Kind::normal, deviation}; }
/// e to the power of normal values: all are positive, their median is e to the mean.
inline Initializer log_normal_values(double mean, double deviation) {
  return {.kind = Initializer::Kind::log_normal, .size = deviation, .mean = mean};
}
/// Saxe et al. 2014: the rows of each block are orthonormal, or its columns where it is tall.
inline Initializer orthogonal_values() { return {Initializer::Kind::orthogonal, 1}; }

}  // namespace rondo

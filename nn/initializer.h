// Initial values of parameters: a small value type, chosen in a recipe or beside a parameter.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tensor/keys.h"
#include "tensor/random.h"
#include "tensor/tensor.h"

namespace rondo {

/// Draws the initial values of one parameter.
struct Initializer {
  enum class Kind { constant, uniform, normal, log_normal, orthogonal };
  Kind kind = Kind::constant;
  // The constant, the bound of the uniform, the deviation of the normal and of the logarithm of the
  // log-normal, the gain of the orthogonal.
  double size = 0;
  /// For orthogonal: the numbers of rows of the stacked blocks, which are the gates of a weight; empty: one
  /// block.
  std::vector<int64_t> block_rows{};
  /// Added to rows [from, to) afterwards: an LSTM's forget bias.
  double offset = 0;
  int64_t offset_from = 0, offset_to = 0;
  /// For log_normal: the mean of the logarithm.
  double mean = 0;

  /// Applied to each value at last; null: nothing is.
  double (*map)(double) = nullptr;

  void fill(const Tensor& to, RandomKey key) const;
  /// The same with `value` added to rows [from, to).
  Initializer with_offset(double value, int64_t from, int64_t to) const {
    Initializer result = *this;
    result.offset = value;
    result.offset_from = from;
    result.offset_to = to;
    return result;
  }
  /// For a weight that stacks the gates of a cell, with `rows` rows each: orthogonal gate by gate.
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
/// Saxe et al. 2014: the rows of each block are orthonormal, or its columns if it has more rows than columns.
inline Initializer orthogonal_values() { return {Initializer::Kind::orthogonal, 1}; }

/// Initial values as a recipe gives them.
struct InitialValues {
  enum class Kind { pytorch, uniform, normal, log_normal, orthogonal };
  Kind kind = Kind::pytorch;
  double range = 0.1;  // half width of the uniform, deviation of the normal and of the log-normal's logarithm

  /// None for Kind::pytorch, which is each layer's own default. The mean of the log-normal's logarithm is 1,
  /// the default of torch's log_normal_.
  std::optional<Initializer> initializer() const;
};
/// The default of the embeddings of every model that has them.
inline constexpr InitialValues default_of_embeddings{InitialValues::Kind::uniform, 0.1};
/// Throws InputError if they are chosen although `init_all`, if not 0, sets every parameter.
void check_embeddings(const InitialValues& values, double init_all);
inline std::vector<std::string> names_of(InitialValues::Kind) {
  return {"pytorch", "uniform", "normal", "log_normal", "orthogonal"};
}

/// The keys `embedding_init` and `embedding_range`.
Keys embedding_keys(InitialValues& values);

}  // namespace rondo

// Initial values of parameters.
#include "nn/initializer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tensor/error.h"
#include "tensor/products/gemm.h"
#include "tensor/products/precision.h"

namespace rondo {
namespace {

/// Makes the rows of a few vectors orthonormal (Gram & Schmidt, modified), in double.
void orthonormalise_few(const Tensor& rows) {
  const int64_t length = rows.columns();
  std::vector<std::vector<double>> basis;
  for (int64_t v = 0; v < rows.rows(); ++v) {
    real* to = rows.slice_rows(v, v + 1).mutable_data();
    std::vector<double> x(to, to + length);
    for (int pass = 0; pass < 2; ++pass)  // twice is enough (Kahan)
      for (const auto& earlier : basis) {
        const double inner = std::inner_product(x.begin(), x.end(), earlier.begin(), 0.0);
        for (int64_t i = 0; i < length; ++i) x[i] -= inner * earlier[i];
      }
    const double norm = std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
    for (double& value : x) value /= norm;
    std::ranges::copy(x, to);
    basis.push_back(std::move(x));
  }
}

/// The same for many rows, block by block: matrix products subtract the projection onto the earlier blocks.
void orthonormalise(const Tensor& rows) {
  constexpr int64_t block = 64;
  for (int64_t first = 0; first < rows.rows(); first += block) {
    const Tensor x = rows.slice_rows(first, std::min(first + block, rows.rows()));
    const Tensor before = rows.slice_rows(0, first), inner({x.rows(), first});
    for (int pass = 0; pass < 2 && first > 0; ++pass) {
      gemm(x, Transpose::no, before, Transpose::yes, false, inner);
      scale(inner, -1);
      gemm(inner, Transpose::no, before, Transpose::no, true, x);
    }
    orthonormalise_few(x);
  }
}

/// Makes the rows orthonormal, or the columns if there are more rows than columns; then multiplies by the
/// gain.
void orthogonalise(const Tensor& block, double gain) {
  const int64_t rows = block.rows(), columns = block.columns();
  if (rows <= columns) {
    orthonormalise(block);
  } else {
    const Tensor turned({columns, rows});
    real *to = turned.mutable_data(), *from = block.mutable_data();
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) to[j * rows + i] = from[i * columns + j];
    orthonormalise(turned);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) from[i * columns + j] = to[j * rows + i];
  }
  scale(block, static_cast<real>(gain));
}

}  // namespace

void Initializer::fill(const Tensor& to, RandomKey key) const {
  check(to.contiguous(), "[initializer] {} has rows {} apart", to.shape(), to.row_stride());
  check(std::isfinite(size) && std::isfinite(mean) && (size >= 0 || kind == Kind::constant),
        "[initializer] a finite width, deviation or gain of 0 or more was expected: {}, of mean {}", size,
        mean);
  check(offset == 0 || (0 <= offset_from && offset_from <= offset_to && offset_to <= to.size()),
        "[initializer] {} has no rows [{}, {}) for an offset", to.shape(), offset_from, offset_to);
  switch (kind) {
    case Kind::constant:
      rondo::fill(to, static_cast<real>(size));
      break;
    case Kind::uniform:
      fill_uniform(to, key, static_cast<real>(-size), static_cast<real>(size));
      break;
    case Kind::normal:
      fill_normal(to, key, static_cast<real>(size));
      break;
    case Kind::log_normal: {
      fill_normal(to, key, static_cast<real>(size));
      real* values = to.mutable_data();
      for (int64_t i = 0; i < to.size(); ++i) values[i] = static_cast<real>(std::exp(mean + values[i]));
      break;
    }
    case Kind::orthogonal: {
      std::vector<int64_t> heights = block_rows;
      if (heights.empty()) heights = {to.rows()};
      check(std::accumulate(heights.begin(), heights.end(), int64_t{0}) == to.rows(),
            "[orthogonal] {} does not split into {} blocks of rows", to.shape(), heights.size());
      fill_normal(to, key, 1);
      const WithPrecision exact(Precision::fp32);
      int64_t begin = 0;
      for (const int64_t rows : heights) {
        orthogonalise(to.slice_rows(begin, begin + rows), size);
        begin += rows;
      }
      break;
    }
  }
  real* values = to.mutable_data();
  for (int64_t i = offset_from; i < offset_to; ++i) values[i] += static_cast<real>(offset);
  for (int64_t i = 0; map && i < to.size(); ++i) values[i] = static_cast<real>(map(values[i]));
}

std::optional<Initializer> InitialValues::initializer() const {
  switch (kind) {
    case Kind::pytorch:
      return std::nullopt;
    case Kind::uniform:
      return uniform_values(range);
    case Kind::normal:
      return normal_values(range);
    case Kind::log_normal:
      return log_normal_values(1, range);
    case Kind::orthogonal:
      return orthogonal_values();
  }
  throw Error("[initial values] an unknown kind");
}

void check_embeddings(const InitialValues& values, double init_all) {
  const bool are_chosen =
      values.kind != default_of_embeddings.kind || values.range != default_of_embeddings.range;
  check_input(init_all == 0 || !are_chosen,
              "model.init_all = {} sets every parameter: leave out model.embedding_init and "
              "model.embedding_range, or "
              "set model.init_all = 0",
              init_all);
}

Keys embedding_keys(InitialValues& values) {
  return {{"embedding_init", choice(values.kind),
           "initial values of the embeddings; pytorch: normal, of deviation 1"},
          {"embedding_range", &values.range, at_least(0),
           "half width of the uniform, deviation of the normal, or of the log_normal's logarithm"}};
}

}  // namespace rondo

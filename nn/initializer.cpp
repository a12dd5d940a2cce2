// Initial values of parameters.
#include "nn/initializer.h"

#include <cmath>
#include <vector>

namespace rondo {
namespace {

/// Gram-Schmidt in double over the shorter side of a [rows, columns] block that holds normal numbers.
void orthogonalise(real* block, int64_t rows, int64_t columns, double gain) {
  const bool tall = rows > columns;
  const int64_t count = tall ? columns : rows, length = tall ? rows : columns;
  auto at = [&](int64_t vector, int64_t i) -> real& {
    return tall ? block[i * columns + vector] : block[vector * columns + i];
  };
  std::vector<std::vector<double>> basis;
  for (int64_t v = 0; v < count; ++v) {
    std::vector<double> x(length);
    for (int64_t i = 0; i < length; ++i) x[i] = at(v, i);
    for (int pass = 0; pass < 2; ++pass)  // twice is enough (Kahan)
      for (const auto& earlier : basis) {
        double inner = 0;
        for (int64_t i = 0; i < length; ++i) inner += x[i] * earlier[i];
        for (int64_t i = 0; i < length; ++i) x[i] -= inner * earlier[i];
      }
    double norm = 0;
    for (double value : x) norm += value * value;
    norm = std::sqrt(norm);
    for (int64_t i = 0; i < length; ++i) at(v, i) = static_cast<real>(gain * (x[i] /= norm));
    basis.push_back(std::move(x));
  }
}

}  // namespace

void Initializer::fill(const Tensor& to, RandomKey key) const {
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
    case Kind::orthogonal: {
      check(to.rows() % blocks == 0, "[orthogonal] {} does not split into {} blocks of rows", to.shape(),
            blocks);
      fill_normal(to, key, 1);
      const int64_t rows = to.rows() / blocks;
      for (int block = 0; block < blocks; ++block)
        orthogonalise(to.write() + block * rows * to.columns(), rows, to.columns(), size);
      break;
    }
  }
  if (offset == 0) return;
  real* values = to.write();
  for (int64_t i = offset_from; i < offset_to; ++i) values[i] += static_cast<real>(offset);
}

}  // namespace rondo

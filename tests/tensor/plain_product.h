// Products as plain loops in double.
#pragma once

#include <vector>

#include "tensor/products/gemm.h"

namespace rondo {

/// op(x), row by row.
inline std::vector<double> plain_operand(const Tensor& x, Transpose transpose) {
  const bool t = transpose == Transpose::yes;
  const int64_t rows = t ? x.columns() : x.rows(), columns = t ? x.rows() : x.columns();
  std::vector<double> result;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      result.push_back(t ? x.data()[j * x.row_stride() + i] : x.data()[i * x.row_stride() + j]);
  return result;
}

/// a b of [m, k] and [k, n]. By pointers, as tests are not optimised; both are null where k is 0.
inline std::vector<double> plain_product(const std::vector<double>& a, const std::vector<double>& b,
                                         int64_t m, int64_t n, int64_t k) {
  const double *left = a.data(), *right = b.data();
  std::vector<double> product;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < k; ++l) sum += left[i * k + l] * right[l * n + j];
      product.push_back(sum);
    }
  return product;
}

}  // namespace rondo

// Singular values: LAPACK reduces the matrix to a bidiagonal one and computes its singular values. (Its
// dgesdd does both, but needs Fortran's run-time library, and OpenBLAS alone does not.)
#include "tensor/products/singular_values.h"

#include <algorithm>

extern "C" {
void dgebrd_(const int* rows, const int* columns, double* matrix, const int* stride, double* diagonal,
             double* beside, double* left, double* right, double* work, const int* work_size, int* problem);
void dbdsqr_(const char* triangle, const int* size, const int* right_columns, const int* left_rows,
             const int* columns, double* diagonal, double* beside, double* right, const int* right_stride,
             double* left, const int* left_stride, double* of_columns, const int* columns_stride,
             double* work, int* problem, size_t triangle_length);
}

namespace rondo {

std::vector<double> singular_values(const Tensor& matrix) {
  const std::vector<real> numbers = matrix.to_vector();
  // As Fortran sees a matrix, column by column, it is the transpose, whose singular values are the same.
  // dgebrd gives an upper bidiagonal matrix if there are at least as many rows as columns.
  const bool wide = matrix.columns() >= matrix.rows();
  const int rows = static_cast<int>(std::max(matrix.rows(), matrix.columns())),
            columns = static_cast<int>(std::min(matrix.rows(), matrix.columns()));
  std::vector<double> a(numbers.begin(), numbers.end());
  if (!wide)
    for (size_t i = 0; i < a.size(); ++i) {
      const size_t row = i / static_cast<size_t>(columns), column = i % static_cast<size_t>(columns);
      a[column * static_cast<size_t>(rows) + row] = numbers[i];
    }
  const auto n = static_cast<size_t>(columns);
  std::vector<double> values(n), beside(n), left(n), right(n), work(64 * static_cast<size_t>(rows + columns));
  const int work_size = static_cast<int>(work.size()), none = 0, one = 1;
  int problem = 0;
  dgebrd_(&rows, &columns, a.data(), &rows, values.data(), beside.data(), left.data(), right.data(),
          work.data(), &work_size, &problem);
  double unused = 0;
  if (problem == 0)
    dbdsqr_("U", &columns, &none, &none, &none, values.data(), beside.data(), &unused, &one, &unused, &one,
            &unused, &one, work.data(), &problem, 1);
  check(problem == 0, "[singular values] LAPACK reports {} for a matrix {}", problem, matrix.shape());
  return values;
}

}  // namespace rondo

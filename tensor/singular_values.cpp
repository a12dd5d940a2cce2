// Singular values.
#include "tensor/singular_values.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rondo {
namespace {

/// A matrix of doubles, row by row.
struct DoubleMatrix {
  size_t rows, columns;
  std::vector<double> numbers;

  double* row(size_t i) { return numbers.data() + i * columns; }
};

/// Tall or square: the transpose has the same singular values.
DoubleMatrix tall(const Tensor& matrix) {
  const auto rows = static_cast<size_t>(matrix.rows()), columns = static_cast<size_t>(matrix.columns());
  const std::vector<real> numbers = matrix.to_vector();
  if (rows >= columns) return {rows, columns, {numbers.begin(), numbers.end()}};
  DoubleMatrix result{columns, rows, std::vector<double>(rows * columns)};
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j) result.row(j)[i] = numbers[i * columns + j];
  return result;
}

/// Makes of x the vector v with (1 - 2 v v^T / v^T v) x = alpha e_1; returns alpha, and 0 for a vector of
/// zeros, which stays.
double householder(std::vector<double>& x) {
  double squares = 0;
  for (const double it : x) squares += it * it;
  if (squares == 0) return 0;
  const double alpha = x[0] > 0 ? -std::sqrt(squares) : std::sqrt(squares);
  x[0] -= alpha;
  double length = 0;
  for (const double it : x) length += it * it;
  for (double& it : x) it /= std::sqrt(length);
  return alpha;
}

/// How many eigenvalues of the symmetric tridiagonal matrix with zeros on its diagonal and `beside` next to
/// it are below x: the negative ones among the pivots of its factorisation (Sturm).
size_t eigenvalues_below(const std::vector<double>& beside, double x) {
  size_t count = 0;
  double pivot = -x;
  for (size_t i = 0;; ++i) {
    count += pivot < 0;
    if (i == beside.size()) return count;
    if (pivot == 0) pivot = std::numeric_limits<double>::min();
    pivot = -x - beside[i] * beside[i] / pivot;
  }
}

}  // namespace

std::vector<double> singular_values(const Tensor& matrix) {
  DoubleMatrix a = tall(matrix);
  const size_t n = a.columns;
  // The bidiagonal matrix, d_1 f_1 d_2 f_2 .. d_n: beside the diagonal of zeros of a symmetric matrix whose
  // eigenvalues are the singular values and their negatives (Golub & Kahan 1965).
  std::vector<double> bidiagonal, v, sums;
  for (size_t k = 0; k < n; ++k) {
    v.clear();
    for (size_t i = k; i < a.rows; ++i) v.push_back(a.row(i)[k]);
    bidiagonal.push_back(householder(v));
    sums.assign(n - k, 0);
    for (size_t i = k; i < a.rows; ++i)
      for (size_t j = k; j < n; ++j) sums[j - k] += v[i - k] * a.row(i)[j];
    if (bidiagonal.back() != 0)
      for (size_t i = k; i < a.rows; ++i)
        for (size_t j = k; j < n; ++j) a.row(i)[j] -= 2 * v[i - k] * sums[j - k];
    if (k + 1 == n) break;
    v.assign(a.row(k) + k + 1, a.row(k) + n);
    bidiagonal.push_back(householder(v));
    if (bidiagonal.back() == 0) continue;
    for (size_t i = k; i < a.rows; ++i) {
      double along = 0;
      for (size_t j = k + 1; j < n; ++j) along += v[j - k - 1] * a.row(i)[j];
      for (size_t j = k + 1; j < n; ++j) a.row(i)[j] -= 2 * along * v[j - k - 1];
    }
  }
  double bound = 0;  // of the eigenvalues, by Gershgorin
  for (size_t i = 0; i < bidiagonal.size(); ++i)
    bound = std::max(bound, std::abs(bidiagonal[i]) + (i > 0 ? std::abs(bidiagonal[i - 1]) : 0));
  std::vector<double> values;
  double above = bound;
  for (size_t k = 0; k < n; ++k) {  // the k-th largest of 2 n eigenvalues
    double low = 0, high = above;
    while (high - low > 1e-14 * bound) {
      const double middle = (low + high) / 2;
      (eigenvalues_below(bidiagonal, middle) > 2 * n - 1 - k ? high : low) = middle;
    }
    values.push_back((low + high) / 2);
    above = high;
  }
  return values;
}

}  // namespace rondo

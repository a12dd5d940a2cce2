// Singular values: those of numpy, by singular_values_golden.py, and those that are known.
#include "tensor/products/singular_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace rondo {
namespace {

/// As in singular_values_golden.py.
Tensor sum_of_waves(int64_t rows, int64_t columns, int64_t rank) {
  std::vector<real> numbers;
  for (int64_t i = 1; i <= rows; ++i)
    for (int64_t j = 1; j <= columns; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < rank; ++k)
        sum += std::sin(static_cast<double>((k + 1) * i)) * std::cos(static_cast<double>((k + 2) * j));
      numbers.push_back(sum);
    }
  return Tensor::from(numbers, {rows, columns});
}

void expect_values(const Tensor& matrix, const std::vector<double>& expected) {
  const std::vector<double> values = singular_values(matrix);
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], expected[i], 1e-12 * (1 + expected[0])) << i;
}

TEST(SingularValues, AreThoseOfNumpy) {
  struct Golden {
    int64_t rows, columns, rank;
    std::vector<double> values;
  };
  const std::vector<Golden> all = {
      {5, 5, 5, {4.61315145886363, 3.67174671060201, 2.1198181097523, 1.25635006968163, 0.117095862980325}},
      {7, 4, 9, {5.37378519240268, 4.66338629312511, 3.77494733227012, 2.40759093830823}},
      {3, 6, 8, {4.57304309793918, 4.18574815445886, 2.23240927233093}},
      {6, 6, 2, {3.68269334604318, 3.03985341789073, 0, 0, 0, 0}},
      {1, 4, 3, {1.47094523591375}},
  };
  for (const Golden& it : all) expect_values(sum_of_waves(it.rows, it.columns, it.rank), it.values);
}

TEST(SingularValues, OfMatricesWithoutAnythingToReduce) {
  expect_values(Tensor::zeros({3, 2}), {0, 0});
  expect_values(Tensor::from({0, -2, 0, 0, 0, 3, 1, 0, 0}, {3, 3}), {3, 2, 1});
  expect_values(Tensor::from({-4}, {1, 1}), {4});
  expect_values(sum_of_waves(5, 6, 5).slice_columns(2, 4),
                singular_values(clone(sum_of_waves(5, 6, 5).slice_columns(2, 4))));
}

}  // namespace
}  // namespace rondo

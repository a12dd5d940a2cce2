// Golden numbers as tensors, and tensors beside them.
#pragma once

#include <gtest/gtest.h>

#include "autograd/functions.h"
#include "tests/golden/golden.h"
#include "tests/tensor/near.h"

namespace rondo {

inline Tensor tensor_of(const Golden& golden, const std::string& name) {
  const std::vector<double> values = golden.values(name);
  const std::vector<std::int64_t> extents = golden.shape(name);
  Shape shape;
  for (auto it = extents.rbegin(); it != extents.rend(); ++it) shape = shape.with_leading(*it);
  return Tensor::from({values.begin(), values.end()}, shape);
}
inline Tokens tokens_of(const Golden& golden, const std::string& name) {
  const std::vector<double> values = golden.values(name);
  return tokens({values.begin(), values.end()});
}

/// ASSERT that each number is the golden one, to a tolerance relative to max(1, |expected|).
inline void expect_golden(const std::vector<real>& actual, const Golden& golden, const std::string& name,
                          double tolerance) {
  expect_near(actual, golden.values(name), tolerance, name);
}

}  // namespace rondo

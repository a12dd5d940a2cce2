// Golden numbers as tensors, and tensors beside them.
#pragma once

#include <gtest/gtest.h>

#include "autograd/functions.h"
#include "tests/golden/golden.h"
#include "tests/nn/parameters.h"
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

/// A tensor with a gradient.
struct Leaf {
  explicit Leaf(const Tensor& value)
      : gradient(Tensor::zeros(value.shape())), variable(Variable::leaf(value, gradient)) {}
  Tensor gradient;
  Variable variable;
};

/// What a parameter is called in a file, which has `rnn` for a leading "rnn.".
inline std::string golden_name(const std::string& name, const std::string& rnn) {
  return name.starts_with("rnn.") ? rnn + name.substr(4) : name;
}
/// Gives all parameters of a model the numbers of a file, whose names there begin with `prefix`.
inline void set_golden(const Module& model, const Golden& golden, const std::string& prefix,
                       const std::string& rnn = "rnn.") {
  for (const Segment& segment : model.segments()) {
    const Tensor values = tensor_of(golden, prefix + golden_name(segment.name, rnn));
    ASSERT_EQ(segment.shape, values.shape()) << segment.name;
    copy(values, value_of(model, segment.name));
  }
}
/// EXPECT that the gradients of all parameters are those of a file.
inline void expect_golden_gradients(const Module& model, const Golden& golden, const std::string& prefix,
                                    double tolerance, const std::string& rnn = "rnn.") {
  for (const Segment& segment : model.segments())
    expect_golden(gradient_of(model, segment.name).to_vector(), golden,
                  prefix + "gradient." + golden_name(segment.name, rnn), tolerance);
}

}  // namespace rondo

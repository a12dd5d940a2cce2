// Models that have the parameters of a golden file, and their gradients beside those of it.
#pragma once

#include "tests/golden/compare.h"
#include "tests/nn/parameters.h"

namespace rondo {

/// A tensor with a gradient.
struct Leaf {
  explicit Leaf(const Tensor& value)
      : gradient(Tensor::zeros(value.shape())), variable(Variable::leaf(value, gradient)) {}
  Tensor gradient;
  Variable variable;
};

/// The name of a parameter in a golden file, where `rnn` stands in place of a leading "rnn.".
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

// The gradient check: backward against central differences. Rondo's own tests run it in the double build; in
// float it finds a wrong formula, but not a loss of accuracy. For a model's parameters: nn/gradient_check.h.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "autograd/variable.h"

namespace rondo {

struct GradientCheck {
  bool passed = true;
  double largest_error = 0;  // |a - n| / max(1, |a|, |n|)
  std::string worst;         // which element, with both values

  /// Compares the gradient of `value`, called `name`: changes each of its elements in place and evaluates the
  /// loss.
  void compare(const std::string& name, const Tensor& value, const Tensor& gradient,
               const std::function<double()>& loss, double tolerance);
};

constexpr double gradient_tolerance = sizeof(real) == 8 ? 1e-6 : 1e-3;

/// Compares the gradients of f(inputs) with respect to every element of every input: f must be deterministic;
/// its result is weighted by fixed pseudo-random numbers and summed. Tolerance: |a - n| <= tolerance * max(1,
/// |a|, |n|). A difference over h has a rounding error of about the precision of `real` / h and a truncation
/// error in h^2, so double uses h = 1e-5, float h = 0.01 and the wider tolerance. No input may lie within h
/// of a kink.
GradientCheck check_gradients(const std::function<Variable(const std::vector<Variable>&)>& f,
                              const std::vector<Tensor>& inputs, double tolerance = gradient_tolerance);

}  // namespace rondo

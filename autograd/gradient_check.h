// The gradient check: backward against central differences. Rondo's own tests run it in the double build; in
// float it finds a wrong formula, but not a lost digit. Of a model's parameters: nn/gradient_check.h.
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

  /// Takes into account the gradient of `value`, called `name`: moves each of its elements, where it lies,
  /// and asks for the loss.
  void compare(const std::string& name, const Tensor& value, const Tensor& gradient,
               const std::function<double()>& loss, double tolerance);
};

constexpr double gradient_tolerance = sizeof(real) == 8 ? 1e-6 : 1e-3;

/// Compares the gradients of f(inputs) by every element of every input: f must be deterministic; its result
/// is weighted with fixed pseudo-random numbers and summed. Tolerance: |a - n| <= tolerance * max(1, |a|,
/// |n|). A difference over h rounds by about the precision of `real` / h and cuts off a term in h^2, so
/// double has h = 1e-5, float h = 0.01 and the wider tolerance. No input may lie within h of a kink.
GradientCheck check_gradients(const std::function<Variable(const std::vector<Variable>&)>& f,
                              const std::vector<Tensor>& inputs, double tolerance = gradient_tolerance);

}  // namespace rondo

// The gradient check: backward against central differences. Meant for the double build.
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
};

/// Compares the gradients of f(inputs) by every element of every input: f must be deterministic; its result
/// is weighted with fixed pseudo-random numbers and summed. Tolerance: |a - n| <= tolerance * max(1, |a|,
/// |n|), step h = 1e-5.
GradientCheck check_gradients(const std::function<Variable(const std::vector<Variable>&)>& f,
                              const std::vector<Tensor>& inputs, double tolerance = 1e-6);

}  // namespace rondo

// Gradients against the derivatives of plain loops: see plain_cells.h.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tensor/random.h"
#include "tests/nn/cells/plain_cells.h"
#include "tests/nn/parameters.h"

namespace rondo {

/// All parameters of a model by name.
using Parameters = std::map<std::string, Vector>;

inline Parameters parameters_of(const Module& model) {
  Parameters parameters;
  for (const Segment& segment : model.segments()) {
    const std::vector<real> values = value_of(model, segment.name).to_vector();
    parameters[segment.name] = Vector(values.begin(), values.end());
  }
  return parameters;
}

/// Of a parameter, the same at each call.
inline std::vector<real> direction_of(const Segment& segment) {
  const Tensor direction(segment.shape);
  fill_uniform(direction, {.seed = 11, .name = hash_of(segment.name)}, -1, 1);
  return direction.to_vector();
}

/// Compares the gradients that the model holds, along a random direction of each parameter, with those of
/// `plain_loss`.
inline void expect_plain_gradients(const Module& model,
                                   const std::function<Number(const Parameters&)>& plain_loss) {
  constexpr double step = 1e-30;
  const Parameters parameters = parameters_of(model);
  for (const Segment& segment : model.segments()) {
    const std::vector<real> gradient = gradient_of(model, segment.name).to_vector(),
                            along = direction_of(segment);
    Parameters moved = parameters;
    double actual = 0;
    for (size_t i = 0; i < gradient.size(); ++i) {
      actual += gradient[i] * along[i];
      moved[segment.name][i] += Number(0, step * along[i]);
    }
    const double expected = plain_loss(moved).imag() / step;
    EXPECT_NEAR(actual, expected, 1e-9 * std::max(1.0, std::abs(expected))) << segment.name;
  }
}

/// The same along one direction of all parameters together, which takes one plain loss; if that differs, name
/// by name.
inline void expect_plain_gradients_together(const Module& model,
                                            const std::function<Number(const Parameters&)>& plain_loss) {
  constexpr double step = 1e-30;
  Parameters moved = parameters_of(model);
  double actual = 0;
  for (const Segment& segment : model.segments()) {
    const std::vector<real> gradient = gradient_of(model, segment.name).to_vector(),
                            along = direction_of(segment);
    for (size_t i = 0; i < gradient.size(); ++i) {
      actual += gradient[i] * along[i];
      moved[segment.name][i] += Number(0, step * along[i]);
    }
  }
  const double expected = plain_loss(moved).imag() / step;
  EXPECT_NEAR(actual, expected, 1e-9 * std::max(1.0, std::abs(expected)));
  if (testing::Test::HasFailure()) expect_plain_gradients(model, plain_loss);
}

}  // namespace rondo

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

/// One layer's parameters, whose names begin with `stack` and end with `suffix`.
inline PlainLayer parameters_of_layer(const Parameters& parameters, const std::string& stack,
                                      const std::string& suffix, int64_t input, int64_t hidden) {
  PlainLayer layer{input, hidden, {}, {}};
  for (const auto& [name, values] : parameters)
    if (name.starts_with(stack) && name.ends_with(suffix))
      layer.named[name.substr(stack.size(), name.size() - stack.size() - suffix.size())] = values;
  return layer;
}

/// Of a parameter, the same at each call.
inline std::vector<real> direction_of(const Segment& segment) {
  const Tensor direction(segment.shape);
  fill_uniform(direction, {.seed = 11, .name = hash_of(segment.name)}, -1, 1);
  return direction.to_vector();
}

/// Compares the gradients that the model holds, along a random direction of each parameter, with those of
/// `plain_loss`; `together` along one direction of all, which takes one plain loss, and only if that differs
/// parameter by parameter.
inline void expect_plain_gradients(const Module& model,
                                   const std::function<Number(const Parameters&)>& plain_loss,
                                   bool together = false) {
  constexpr double step = 1e-30;
  const auto differs = [&](const std::string& name) {  // empty: of all parameters
    Parameters moved = parameters_of(model);
    double actual = 0;
    for (const Segment& segment : model.segments()) {
      if (!name.empty() && segment.name != name) continue;
      const std::vector<real> gradient = gradient_of(model, segment.name).to_vector(),
                              along = direction_of(segment);
      for (size_t i = 0; i < gradient.size(); ++i) {
        actual += gradient[i] * along[i];
        moved[segment.name][i] += Number(0, step * along[i]);
      }
    }
    const double expected = plain_loss(moved).imag() / step;
    const bool near = std::abs(actual - expected) <= 1e-9 * std::max(1.0, std::abs(expected));
    EXPECT_TRUE(near) << (name.empty() ? "all parameters" : name) << ": " << actual << ", not " << expected;
    return !near;
  };
  if (!together || differs(""))
    for (const Segment& segment : model.segments()) differs(segment.name);
}

}  // namespace rondo

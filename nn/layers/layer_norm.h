// Layer normalisation as a module, Ba, Kiros & Hinton 2016. The mathematics is in autograd/layer_norm.h.
#pragma once

#include <string>
#include <utility>

#include "autograd/layer_norm.h"
#include "nn/module.h"

namespace rondo {

/// weight (x - mean) / sqrt(variance + epsilon) + bias, each row of x [.., W] with its own mean and variance,
/// so that other rows and padding have no effect. Names and initial values are PyTorch's: weight 1, bias 0.
struct LayerNorm : Module {
  LayerNorm(Module& parent, std::string name, int64_t width, double added_to_variance = 1e-5)
      : Module(parent, std::move(name)),
        weight(*this, "weight", {width}, constant_values(1)),
        bias(*this, "bias", {width}, constant_values(0)),
        epsilon(static_cast<real>(added_to_variance)) {}

  Variable operator()(const Variable& x) const { return layer_norm(x, weight, bias, epsilon); }

  Parameter weight, bias;
  real epsilon;
};

}  // namespace rondo

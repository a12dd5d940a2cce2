// The gradient check of a model: every parameter of a module against central differences. Of a function of
// tensors: autograd/gradient_check.h.
#pragma once

#include <functional>

#include "autograd/gradient_check.h"
#include "nn/module.h"

namespace rondo {

/// Compares the gradients that backward gives the parameters of `model`, a root on the CPU after finalize(),
/// with differences of `loss`, which computes one number anew at each call and must be deterministic: without
/// dropout, or with begin_update() before it. What it says of tolerance and kinks is check_gradients()'s of a
/// function. Parameters keep their values; gradients() is left with the loss's.
GradientCheck check_gradients(Module& model, const std::function<Variable()>& loss,
                              double tolerance = gradient_tolerance);

}  // namespace rondo

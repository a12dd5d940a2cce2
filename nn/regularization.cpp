// Penalties on activations.
#include "nn/regularization.h"

#include "autograd/operators/arithmetic.h"

namespace rondo {
namespace {

Variable mean_of_squares(const char* name, const Variable& x) {
  const double size = static_cast<double>(x.value().size());
  const Tensor y = sum_of_squares_on_device(x.value());
  scale(y, static_cast<real>(1 / size));
  return record(name, y, {x},
                [name, x = Saved(x.value()), factor = static_cast<real>(2 / size)](
                    const std::vector<Tensor>& gradients, const Inputs& in) mutable {
                  Tensor saved = x.get(name);
                  x = {};  // so that the gradient can reuse its memory if it has no other owner
                  const Tensor scaled = clone(gradients[0]);
                  scale(scaled, factor);
                  in[0].add_scaled(std::move(saved), scaled);
                });
}

}  // namespace

Variable activation_regularization(const Variable& x) {
  return mean_of_squares("activation_regularization", x);
}

Variable temporal_regularization(const Variable& x) {
  check(x.shape().dimensions() == 3, "[temporal_regularization] x is [T, B, H], got {}", x.shape());
  const int64_t T = x.shape()[0];
  if (T == 1) return Tensor::zeros({1}, x.value().device());
  return mean_of_squares("temporal_regularization", x.slice(1, T) - x.slice(0, T - 1));
}

}  // namespace rondo

// Layer normalisation.
#include "autograd/layer_norm.h"

#include "autograd/operators/arithmetic.h"
#include "tensor/kernels/kernels.h"

namespace rondo {

// y = (x - mean) / sqrt(variance + epsilon), row by row. With scale = 1 / sqrt(variance + epsilon):
// dx = scale (dy - mean(dy) - y mean(dy y)).
Variable normalized_rows(const Variable& x, real epsilon) {
  const Device device = x.value().device();
  const Tensor y(x.shape(), device), scale({x.value().rows()}, device);
  launch(device, y.extent(),
         NormalizeRows{x.value().read_operand(), epsilon, y.write_operand(), scale.mutable_data()});
  return record("layer_norm", y, {x},
                [y = Saved(y), scale](const std::vector<Tensor>& gradients, const Inputs& in) {
                  const Tensor dx(gradients[0].shape(), gradients[0].device());
                  launch(dx.device(), dx.extent(),
                         NormalizeRowsBackward{y.get("layer_norm").read_operand(), scale.data(),
                                               gradients[0].read_operand(), dx.write_operand()});
                  in[0].add(dx);
                });
}

Variable layer_norm(const Variable& x, const Variable& weight, const Variable& bias, real epsilon) {
  const Shape width{x.shape().columns()};
  check(width[0] > 0 && weight.shape() == width && bias.shape() == width,
        "[layer_norm] x {} needs weight and bias {}, got {} and {}", x.shape(), width, weight.shape(),
        bias.shape());
  return normalized_rows(x, epsilon) * weight + bias;
}

}  // namespace rondo

// Normalisation: statistics of rows and of columns, with their gradients.
#include "autograd/functions.h"
#include "autograd/operators/arithmetic.h"
#include "autograd/operators/functions.h"
#include "tensor/kernels/kernels.h"

namespace rondo {

// y = (x - mean) / sqrt(variance + epsilon), row by row. With scale = 1 / sqrt(variance + epsilon):
// dx = scale (dy - mean(dy) - y mean(dy y)).
Variable normalized_rows(const Variable& x, real epsilon) {
  check(epsilon > 0, "[layer_norm] what is added to a variance is above 0: {}", epsilon);
  const Device device = x.value().device();
  const Tensor y(x.shape(), device), scale({x.value().rows()}, device);
  launch(device, y.extent(),
         NormalizeRows{x.value().read_operand(), epsilon, y.write_operand(), scale.mutable_data()});
  return record_unary("layer_norm", y, x, [y = Saved(y), scale](const Tensor& dy) {
    const Tensor dx(dy.shape(), dy.device());
    launch(dx.device(), dx.extent(),
           NormalizeRowsBackward{y.get("layer_norm").read_operand(), scale.data(), dy.read_operand(),
                                 dx.write_operand()});
    return dx;
  });
}

Variable layer_norm(const Variable& x, const Variable& weight, const Variable& bias, real epsilon) {
  const Shape width{x.shape().columns()};
  check(width[0] > 0 && weight.shape() == width && bias.shape() == width,
        "[layer_norm] x {} needs weight and bias {}, got {} and {}", x.shape(), width, weight.shape(),
        bias.shape());
  return normalized_rows(x, epsilon) * weight + bias;
}

ColumnMoments column_moments(const Variable& x) {
  const Extent extent = x.value().extent();
  check(extent.rows > 0, "[column_moments] {} has no row", x.shape());
  const Device device = x.value().device();
  const Tensor mean = Tensor::zeros({extent.columns}, device),
               variance = Tensor::zeros({extent.columns}, device);
  launch(device, extent,
         Moments{x.value().read_operand(), extent.rows, mean.mutable_data(), variance.mutable_data()});
  // d mean / dx = 1 / n; d variance / dx = 2 (x - mean) / n, because the mean of x - mean is 0.
  auto backward = [=, x = Saved(x.value()), mean = Saved(mean)](const std::vector<Tensor>& gradients,
                                                                const Inputs& in) {
    const auto given = [&](const Tensor& g) {
      return g.defined() ? g : Tensor::zeros({extent.columns}, device);
    };
    const Tensor dmean = given(gradients[0]), dvariance = given(gradients[1]);
    const Sink::Destination to = in[0].destination();
    if (!to.accumulate) fill(to.tensor, 0);
    launch(device, extent,
           MomentsBackward{x.get("column_moments").read_operand(), extent.rows,
                           mean.get("column_moments").data(), dmean.data(), dvariance.data(),
                           to.tensor.write_operand()});
  };
  const std::vector<Variable> results = record("column_moments", {mean, variance}, {x}, backward);
  return {results[0], results[1]};
}

Variable batch_normalization(const Variable& x, const ColumnMoments& statistics, const Variable& gamma,
                             const Variable& beta) {
  return pointwise(BatchNormalization{}, x, statistics.mean, statistics.variance, gamma, beta);
}

}  // namespace rondo

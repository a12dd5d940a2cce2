// Filling tensors with random numbers: initial values on the CPU, dropout masks on the tensor's device.
#include "tensor/random.h"

#include <cmath>
#include <numbers>

#include "tensor/kernels.h"
#include "tensor/tensor.h"

namespace rondo {

void fill_uniform(const Tensor& to, RandomKey key, real low, real high) {
  check(to.contiguous() && to.device() == Device::cpu, "[fill_uniform] initial values are drawn on the CPU");
  real* values = to.write();
  for (int64_t i = 0; i < to.size(); ++i)
    values[i] = static_cast<real>(low + (static_cast<double>(high) - low) * uniform_from(key.bits(i)));
}

void fill_normal(const Tensor& to, RandomKey key, real standard_deviation) {
  check(to.contiguous() && to.device() == Device::cpu, "[fill_normal] initial values are drawn on the CPU");
  real* values = to.write();
  for (int64_t i = 0; i < to.size(); ++i) {
    const double radius = std::sqrt(-2 * std::log(uniform_from(key.bits(2 * i))));
    values[i] = static_cast<real>(standard_deviation * radius *
                                  std::cos(2 * std::numbers::pi * uniform_from(key.bits(2 * i + 1))));
  }
}

void fill_dropout_mask(const Tensor& to, RandomKey key, double probability, BatchSlice slice) {
  check(probability >= 0 && probability < 1, "[dropout] the probability is in [0, 1), got {}", probability);
  check(to.contiguous(), "[dropout] the mask is contiguous");
  kernels(to.device()).dropout_mask(to.extent(), key, probability, slice, to.write());
}

}  // namespace rondo

// What ranks of all kinds share.
#include "lm/training/ranks.h"

namespace rondo {

void Ranks::add_up(const Tensor& tensor) {
  const bool has_gaps = tensor.shape().dimensions() > 1 && !tensor.contiguous();
  const auto count = static_cast<size_t>(has_gaps ? tensor.rows() * tensor.row_stride() : tensor.size());
  real* const numbers = tensor.mutable_data();
  if (tensor.device() == Device::cpu)
    add_up(std::span(numbers, count));
  else
    add_up_on_gpu(numbers, count);
}

}  // namespace rondo

// What ranks of all kinds share.
#include "lm/training/ranks.h"

namespace rondo {
namespace {

[[noreturn]] void refuse_gpus() { throw InputError("these ranks add up on CPUs only; use --device cpu"); }

}  // namespace

void Ranks::add_up_tensor(const Tensor& tensor) {
  begin_add_up(tensor);
  end_add_up(tensor.device());
}

void Ranks::begin_add_up(const Tensor& tensor) {
  // With the pads between rows, which are zero on all ranks, or on none.
  const auto count =
      static_cast<size_t>(tensor.contiguous() ? tensor.size() : tensor.rows() * tensor.row_stride());
  real* const numbers = tensor.mutable_data();
  if (tensor.device() == Device::cpu)
    add_up(std::span(numbers, count));
  else
    begin_on_gpu(numbers, count);
}

void Ranks::end_add_up(Device device) {
  if (device == Device::cuda) end_on_gpu();
}

void Ranks::use_gpus() { refuse_gpus(); }
void Ranks::begin_on_gpu(real*, size_t) { refuse_gpus(); }
void Ranks::end_on_gpu() { refuse_gpus(); }

}  // namespace rondo

// Where indices lie.
#include "tensor/indices.h"

#include "cuda/runtime.h"
#include "tensor/allocator.h"

namespace rondo {

const int32_t* Indices::on(Device device) const {
  if (device == Device::cpu) return values_.data();
  if (!on_gpu_) {
    const std::size_t bytes = values_.size() * sizeof(int32_t);
    on_gpu_ = {static_cast<int32_t*>(allocate(device, bytes)),
               [device, bytes](int32_t* block) { release(device, block, bytes); }};
    cuda::upload(on_gpu_.get(), values_.data(), bytes);
  }
  return on_gpu_.get();
}

}  // namespace rondo

// Operands of one operation lie on one device: a GPU kernel that dereferences host memory poisons the CUDA
// context. Tensor::to() copies between devices.
#pragma once

#include "tensor/tensor.h"

namespace rondo {

/// Throws Error unless all defined tensors lie on one device.
template <class... Tensors>
void check_one_device(const char* name, const Tensor& first, const Tensors&... others) {
  const auto beside = [&](const Tensor& other) {
    return !first.defined() || !other.defined() || other.device() == first.device();
  };
  check((beside(others) && ...), "[{}] needs operands on one device; bring them there by to()", name);
}

}  // namespace rondo

// Numbers as a tensor of one axis.
#pragma once

#include <vector>

#include "tensor/tensor.h"

namespace rondo {

inline Tensor flat(const std::vector<double>& numbers) {
  return Tensor::from({numbers.begin(), numbers.end()}, {std::ssize(numbers)});
}

}  // namespace rondo

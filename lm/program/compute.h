// Where and how a command computes: on the CPU or a GPU, with how many threads, and how products are rounded.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cuda/runtime.h"
#include "tensor/backend.h"

namespace rondo {

using Precision = cuda::Precision;

inline std::vector<std::string> names_of(Device) { return {name_of(Device::cpu), name_of(Device::cuda)}; }
namespace cuda {
inline std::vector<std::string> names_of(Precision) { return {"fp32", "tf32", "bf16"}; }
}  // namespace cuda

struct Compute {
  Device device;
  int threads;
  Precision precision;  // of products
};
/// Sets the number of threads (none: unchanged) and the precision of a GPU's products (none: fp32).
/// InputError, with the reason, if the GPU cannot be used, or for a precision other than fp32 on a CPU.
Compute choose_device(Device device, std::optional<Precision> precision, std::optional<int> threads);

}  // namespace rondo

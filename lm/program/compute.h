// Where and how a command computes: on the CPU or a GPU, by how many threads, and how products are rounded.
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
/// Sets the number of threads (none: as it is), and how a GPU multiplies (none: fp32). InputError, saying
/// why, if there is no GPU to compute on, or if a CPU is to round.
Compute choose_device(Device device, std::optional<Precision> precision, std::optional<int> threads);

}  // namespace rondo

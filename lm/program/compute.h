// Where and how a command computes: on the CPU or a GPU, with how many threads, and how products are rounded.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tensor/backend.h"
#include "tensor/precision.h"

namespace rondo {

inline std::vector<std::string> names_of(Device) { return {name_of(Device::cpu), name_of(Device::cuda)}; }
namespace cuda {
inline std::vector<std::string> names_of(Precision) { return {"fp32", "tf32", "bf16"}; }
}  // namespace cuda

struct Compute {
  Device device;
  int threads;
  Precision precision;     // of products
  std::int64_t ranks = 1;  // processes that train together, each with so many threads or a GPU
};
/// Sets the number of threads (none: unchanged) and the precision of products (none: fp32).
/// InputError, with the reason, if the GPU cannot be used, or for tf32 on a CPU.
Compute choose_device(Device device, std::optional<Precision> precision, std::optional<int> threads);
/// What computes products on this CPU, and of bf16 whether it is faster than fp32: "AVX-512 and OpenBLAS's
/// SkylakeX kernels", "AVX-512 BF16, products 1.9 times as fast as in fp32".
std::string kernels_text(Precision precision);

}  // namespace rondo

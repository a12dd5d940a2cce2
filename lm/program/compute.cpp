// Where and how a command computes.
#include "lm/program/compute.h"

#include "tensor/blas_memory.h"
#include "tensor/error.h"
#include "tensor/keys.h"
#include "tensor/threads.h"

namespace rondo {

Compute choose_device(Device device, std::optional<Precision> wanted_precision,
                      std::optional<int> wanted_threads) {
  if (wanted_threads) set_threads(*wanted_threads);
  const Precision precision = wanted_precision.value_or(Precision::fp32);
  if (device == Device::cpu) {
    check_input(precision == Precision::fp32, "--precision {} is for a GPU; a CPU computes products in fp32",
                name_of(precision));
    take_blas_buffers(threads());  // before the available memory is measured
  } else {
    const std::string why_not = cuda::unavailable();
    check_input(why_not.empty(), "--device {}: {}; use --device cpu", name_of(device), why_not);
    cuda::set_precision(precision);
  }
  return {device, threads(), precision};
}

}  // namespace rondo

// Where and how a command computes.
#include "lm/program/compute.h"

#include "cuda/runtime.h"
#include "tensor/blas_memory.h"
#include "tensor/error.h"
#include "tensor/gemm.h"
#include "tensor/keys.h"
#include "tensor/threads.h"

namespace rondo {

Compute choose_device(Device device, std::optional<Precision> wanted_precision,
                      std::optional<int> wanted_threads) {
  if (wanted_threads) set_threads(*wanted_threads);
  const Precision precision = wanted_precision.value_or(Precision::fp32);
  if (device == Device::cpu) {
    check_input(precision != Precision::tf32,
                "--precision {} is for a GPU; a CPU computes products in fp32 or bf16", name_of(precision));
    take_blas_buffers(threads());  // before the available memory is measured
  } else {
    const std::string why_not = cuda::unavailable();
    check_input(why_not.empty(), "--device {}: {}; use --device cpu", name_of(device), why_not);
  }
  set_precision(precision);
  return {device, threads(), precision};
}

std::string kernels_text(Precision precision) {
  if (precision != Precision::bf16)
    return fmt::format("{} and OpenBLAS's {} kernels", name_of(multiplication_of_fp32()), blas_kernel());
  const double speedup = speedup_of_bf16();
  return fmt::format("{}, {}", name_of(fastest_multiplication_of_bf16()),
                     speedup == 1 ? "which is not faster than fp32 on this CPU"
                                  : fmt::format("products {:.1f} times as fast as in fp32", speedup));
}

}  // namespace rondo

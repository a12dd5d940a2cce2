// Where and with what a command computes: device, precision, threads, and ranks over MPI.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lm/training/ranks.h"
#include "tensor/backend.h"
#include "tensor/products/precision.h"

namespace rondo {

// --- Compute ---
// Where and how a command computes: on the CPU or a GPU, with how many threads, and how products are
// rounded.

inline std::vector<std::string> names_of(Device) { return {name_of(Device::cpu), name_of(Device::cuda)}; }
namespace cuda {
inline std::vector<std::string> names_of(Precision) { return {"fp32", "tf32", "bf16", "int8"}; }
}  // namespace cuda

/// What the command line says of it.
struct ComputeOptions {
  std::optional<Device> device{};        // none: the CPU
  std::optional<Precision> precision{};  // none: fp32
  std::optional<int> threads{};          // none: unchanged
};
struct Compute {
  Device device;
  int threads;
  Precision precision;     // of products
  std::int64_t ranks = 1;  // processes that train together, each with so many threads or a GPU
};
/// Sets the number of threads and the precision of products. InputError, with the reason, if the GPU cannot
/// be used, or for tf32 on a CPU or int8 on a GPU.
Compute choose_device(const ComputeOptions& options);
/// What computes products on this CPU, and of bf16 whether it is faster than fp32: "AVX-512 and OpenBLAS's
/// SkylakeX kernels", "AVX-512 BF16, products 1.9 times as fast as in fp32".
std::string kernels_text(Precision precision);

// --- Ranks over MPI ---
// The ranks that `mpirun -n N lm...` starts, which communicate by MPI, and how they begin together or not
// at all: an error that only some of them have must not leave the others waiting, and is reported once.

/// How many processes were started together by mpirun; 1 without it.
int started_together();

/// Meets the other processes that mpirun started; they part when it is destroyed. Null if there are none.
/// Throws InputError if there are some, and this program was built without MPI.
std::unique_ptr<Ranks> meet_ranks();

/// Ends all ranks at once, after an error that only this one has: the others would wait for it for ever.
[[noreturn]] void abort_ranks(int exit_status);

/// Calls prepare() on all ranks. If it throws on some of them, all end: the first of these with its error,
/// the others silently, by Stopped.
void prepare_together(Ranks& ranks, const std::function<void()>& prepare);

/// InputError on rank 0, and Stopped on the others, unless all have the digest of rank 0. All have as many
/// characters.
void check_same_digest(Ranks& ranks, const std::string& digest);

}  // namespace rondo

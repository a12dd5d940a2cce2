// What sources of the CUDA pass share: the one stream, and the check of CUDA's status codes.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <span>
#include <vector>

#include "cuda/accesses.h"

namespace rondo::cuda {

/// The oldest major compute capability that the program is built for (CMAKE_CUDA_ARCHITECTURES).
constexpr int oldest_capability = 8;

/// The stream on which everything but sums over GPUs runs, created by the first call.
cudaStream_t stream();

/// Call it before a kernel or a product is launched or recorded. It counts it; and while a graph of branches
/// is recorded, it takes what was noted, and makes the launch wait for those before it with which that
/// conflicts. If there are `rooms`, of which the launch writes one, that is the one that makes it wait
/// the least: the result is its index.
std::size_t begin_launch(std::span<const Access> rooms = {});

/// What the last launch that began accesses; null unless a graph of branches is recorded. The emulated GPU
/// checks it.
const std::vector<Access>* accesses_of_launch();

/// Throws Error with what failed and CUDA's message.
void check_status(cudaError_t status, const char* what);

}  // namespace rondo::cuda

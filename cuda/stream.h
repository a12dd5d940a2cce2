// What sources of the CUDA pass share: the one stream, and the check of CUDA's status codes.
#pragma once

#include <cuda_runtime.h>

namespace rondo::cuda {

/// The oldest major compute capability that the program is built for (CMAKE_CUDA_ARCHITECTURES).
constexpr int oldest_capability = 8;

/// The stream on which everything but sums over GPUs runs, created by the first call.
cudaStream_t stream();

/// Counts a kernel or a product that is launched or recorded.
void count_launch();

/// Throws Error with what failed and CUDA's message.
void check_status(cudaError_t status, const char* what);

}  // namespace rondo::cuda

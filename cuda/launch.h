// Gives a row of tensor/simd/gpu_row.h what it needs on a GPU: thread indices, sums over a block, and
// launches on the one stream. Only the nvcc pass includes it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cuda/stream.h"

namespace rondo::cuda {

constexpr int warp_threads = 32, block_threads = 256;
/// Returns how many threads a block has that processes `columns` elements: one for each, in whole warps, up
/// to block_threads.
constexpr int threads_for(int64_t columns) {
  const int64_t warps = (columns + warp_threads - 1) / warp_threads;
  return static_cast<int>(std::clamp<int64_t>(warps * warp_threads, warp_threads, block_threads));
}
static_assert(threads_for(1) == 32 && threads_for(33) == 64 && threads_for(10'000) == 256);
/// Of a block whose threads share nothing: so few that a small matrix occupies the whole GPU.
constexpr int independent_threads = 64;

// Kernels are HD, so the functions that they call need a host version as well: there a block is one thread.
__host__ __device__ inline int64_t thread() {
#ifdef __CUDA_ARCH__
  return threadIdx.x;
#else
  return 0;
#endif
}
__host__ __device__ inline int64_t threads() {
#ifdef __CUDA_ARCH__
  return blockDim.x;
#else
  return 1;
#endif
}

/// Writes 16 bytes to an address that is a multiple of 16, in one instruction: nvcc may split an
/// assignment into four.
__host__ __device__ inline void write_16_bytes(void* to, const void* from) {
#ifdef __CUDA_ARCH__
  __stwb(static_cast<uint4*>(to), *static_cast<const uint4*>(from));
#else
  *static_cast<uint4*>(to) = *static_cast<const uint4*>(from);
#endif
}

/// Waits for all threads of the block.
__host__ __device__ inline void wait_for_block() {
#ifdef __CUDA_ARCH__
  __syncthreads();
#endif
}

/// Combines one value per thread, in an order fixed by the block's size: first those of a warp, then those of
/// the warps. Every thread gets the result.
template <class Real, class Combine>
__host__ __device__ Real block_reduce(Real value, [[maybe_unused]] Combine combine) {
#ifdef __CUDA_ARCH__
  const unsigned warps = blockDim.x / warp_threads;
  __shared__ Real of_warps[block_threads / warp_threads];
  for (int distance = warp_threads / 2; distance > 0; distance /= 2)
    value = combine(value, __shfl_down_sync(0xffffffff, value, distance));
  if (threadIdx.x % warp_threads == 0) of_warps[threadIdx.x / warp_threads] = value;
  __syncthreads();
  value = of_warps[0];
  for (unsigned warp = 1; warp < warps; ++warp) value = combine(value, of_warps[warp]);
  __syncthreads();  // before the next one writes
#endif
  return value;
}
template <class Real>
__host__ __device__ Real block_sum(Real value) {
  return block_reduce(value, [](Real a, Real b) { return a + b; });
}
template <class Real>
__host__ __device__ Real block_maximum(Real value) {
  return block_reduce(value, [](Real a, Real b) { return a >= b ? a : b; });
}

template <class Kernel>
__global__ void per_block(Kernel kernel) {
  kernel(static_cast<int64_t>(blockIdx.x));
}
template <class Kernel>
__global__ void per_thread(int64_t count, Kernel kernel) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) kernel(i);
}

template <class... Parameters, class... Arguments>
void launch(int64_t blocks, int threads, void (*kernel)(Parameters...), Arguments... arguments) {
  if (blocks == 0) return;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.stream = stream();
  begin_launch();
  check_status(cudaLaunchKernelEx(&config, kernel, arguments...), "launching a kernel");
}
/// Runs kernel(b) for every block of threads b < count, each for `columns` elements or a part of them.
template <class Kernel>
void launch_blocks(int64_t count, int64_t columns, Kernel kernel) {
  launch(count, threads_for(columns), per_block<Kernel>, kernel);
}
/// Runs kernel(i) for every thread i < count.
template <class Kernel>
void launch_threads(int64_t count, Kernel kernel) {
  launch((count + independent_threads - 1) / independent_threads, independent_threads, per_thread<Kernel>,
         count, kernel);
}

}  // namespace rondo::cuda

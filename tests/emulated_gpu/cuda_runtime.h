// Stands in for CUDA's header where the CUDA pass is compiled by g++ for the emulated GPU of the tests: what
// of CUDA Rondo uses, and no more. The names are CUDA's. Next: tests/emulated_gpu/emulated_gpu.h.
#pragma once

#include <cstddef>
#include <functional>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "tests/emulated_gpu/functions.h"

#define CUDART_VERSION 13000
#define __host__
#define __device__
#define __global__
#define __forceinline__ inline __attribute__((always_inline))
#define __shared__ static  // one block at a time

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
struct uint4 {
  unsigned x, y, z, w;
};
inline void __stwb(uint4* to, uint4 value) { *to = value; }
/// Of the thread that runs.
inline dim3 threadIdx, blockIdx, blockDim, gridDim;
/// Lets all other threads of the block come here.
void __syncthreads();

namespace rondo::emulated_gpu {
constexpr unsigned warp_threads = 32;
inline double offered[warp_threads];  // by the threads of the warp that runs
/// Lets all other threads of the warp come here.
void wait_for_warp();
}  // namespace rondo::emulated_gpu
/// The value of the thread that is so much further in the warp, or beyond its end this thread's own. All
/// threads of the warp must call it.
template <class Real>
Real __shfl_down_sync(unsigned /* mask */, Real value, unsigned distance) {
  using namespace rondo::emulated_gpu;
  const unsigned thread = threadIdx.x % warp_threads;
  offered[thread] = static_cast<double>(value);
  wait_for_warp();
  if (thread + distance < warp_threads) value = static_cast<Real>(offered[thread + distance]);
  wait_for_warp();  // before somebody offers the next
  return value;
}

enum cudaError_t {
  cudaSuccess,
  cudaErrorMemoryAllocation,
  cudaErrorNoDevice,
  cudaErrorInsufficientDriver,
  cudaErrorInvalidValue,
  cudaErrorIllegalAddress,
  cudaErrorStreamCaptureUnsupported,
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum cudaStreamCaptureMode { cudaStreamCaptureModeRelaxed };
enum cudaStreamCaptureStatus { cudaStreamCaptureStatusNone, cudaStreamCaptureStatusActive };
enum : unsigned { cudaStreamSetCaptureDependencies = 1 };
enum : unsigned { cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2 };

using cudaStream_t = struct EmulatedStream*;
using cudaGraph_t = struct EmulatedGraph*;
using cudaGraphExec_t = struct EmulatedGraph*;
using cudaGraphNode_t = struct EmulatedNode*;
using cudaEvent_t = struct EmulatedEvent*;
struct cudaGraphEdgeData;

struct cudaDeviceProp {
  char name[256];
  std::size_t totalGlobalMem;
  int major, minor;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  cudaStream_t stream;
};

const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDriverGetVersion(int* version);

cudaError_t cudaMalloc(void** block, std::size_t bytes);
cudaError_t cudaFree(void* block);
cudaError_t cudaMallocHost(void** block, std::size_t bytes);
cudaError_t cudaFreeHost(void* block);
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* all);

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream);

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventDestroy(cudaEvent_t event);

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** dependencies, const cudaGraphEdgeData** edges,
                                     std::size_t* count);
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* dependencies,
                                                const cudaGraphEdgeData* edges, std::size_t count,
                                                unsigned flags);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t graph, unsigned long long flags);
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph);

namespace rondo::emulated_gpu {
using Work = std::function<void()>;

/// A kernel, by the compiler's name for its parameters, and the places in memory of the GPU that it is given.
struct Arguments {
  const char* kernel = "";
  std::vector<const void*> addresses{};
  /// Adds those that an argument contains: every word of it that could be one.
  template <class Argument>
  void find([[maybe_unused]] Argument argument) {
#ifndef __clang__  // which cannot tell what is padding, where any numbers may be
    __builtin_clear_padding(&argument);
    find(&argument, sizeof argument);
#endif
  }
  void find(const void* argument, std::size_t bytes);
};

/// Queues `thread`, to be called once for each thread of the grid. It has these arguments.
cudaError_t launch(dim3 grid, dim3 block, Work thread, Arguments arguments);
}  // namespace rondo::emulated_gpu

/// Arguments are copied, as CUDA copies them.
template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  rondo::emulated_gpu::Arguments given{typeid(void (*)(Parameters...)).name()};
  (given.find(std::decay_t<Parameters>(arguments)), ...);
  return rondo::emulated_gpu::launch(
      config->gridDim, config->blockDim,
      [kernel, ... copies = std::decay_t<Parameters>(arguments)] { kernel(copies...); }, std::move(given));
}

// What a GPU can do, for the design of Rondo's kernels: matrix products by precision, nodes of a graph,
// exchanges between blocks. Each line is one measurement, printed as it is made. Alone, without the library,
// so that it runs where the library does not. bench/gpu_first.py calls it.
#include <cooperative_groups.h>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <functional>

namespace {

void check(int status, const char* what) {
  if (status == 0) return;
  std::printf("%s failed: status %d, %s\n", what, status, cudaGetErrorString(cudaGetLastError()));
  std::fflush(stdout);
  std::exit(1);
}

cudaStream_t stream;

/// Microseconds of work(), the fastest of five, replayed as a graph; `times` is how often work() does the
/// same.
double microseconds(int times, const std::function<void()>& work) {
  work();  // whatever is loaded or chosen at the first call
  check(cudaStreamSynchronize(stream), "a first call");
  cudaGraph_t graph;
  cudaGraphExec_t made;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "beginning a graph");
  work();
  check(cudaStreamEndCapture(stream, &graph), "recording a graph");
  check(cudaGraphInstantiate(&made, graph, 0), "making a graph");
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "an event");
  check(cudaEventCreate(&end), "an event");
  float fastest = 1e30f;
  for (int i = 0; i < 6; ++i) {
    float milliseconds = 0;
    check(cudaEventRecord(begin, stream), "an event");
    check(cudaGraphLaunch(made, stream), "a graph");
    check(cudaEventRecord(end, stream), "an event");
    check(cudaEventSynchronize(end), "a graph");
    check(cudaEventElapsedTime(&milliseconds, begin, end), "an event");
    if (i > 0 && milliseconds < fastest) fastest = milliseconds;
  }
  check(cudaGraphExecDestroy(made), "a graph");
  check(cudaGraphDestroy(graph), "a graph");
  return 1000.0 * fastest / times;
}

template <class T>
T* memory(size_t count) {
  T* block = nullptr;
  check(cudaMalloc(&block, count * sizeof(T)), "cudaMalloc");
  check(cudaMemset(block, 0, count * sizeof(T)), "cudaMemset");
  return block;
}

// ---- Products of the shapes of lm, which computes them by cuBLASLt, by cuBLAS: row-major c [m, n] = a [m,
// k] b^T, b [n, k].

void products() {
  struct Shape {
    const char* what;
    int m, n, k;
  };
  const Shape shapes[] = {
      {"recurrent, B 80", 80, 4600, 1152},    {"its backward", 80, 1152, 4600},
      {"recurrent, B 12", 12, 4600, 1152},    {"its backward", 12, 1152, 4600},
      {"input projection", 5600, 4600, 1152}, {"gradient of a weight", 4600, 1152, 5600},
      {"logits", 1867, 10000, 400},           {"gradient of the decoder", 10000, 400, 1867}};
  struct Precision {
    const char* name;
    cudaDataType_t type;
    cublasComputeType_t compute;
  };
  const Precision precisions[] = {{"fp32", CUDA_R_32F, CUBLAS_COMPUTE_32F},
                                  {"tf32", CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32},
                                  {"fast_16bf", CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_16BF},
                                  {"bf16 operands", CUDA_R_16BF, CUBLAS_COMPUTE_32F}};
  cublasHandle_t handle;
  check(cublasCreate(&handle), "cublasCreate");
  check(cublasSetStream(handle, stream), "cublasSetStream");
  constexpr size_t workspace = size_t{32} << 20, most = size_t{32} << 20;
  check(cublasSetWorkspace(handle, memory<char>(workspace), workspace), "cublasSetWorkspace");
  float *a = memory<float>(most), *b = memory<float>(most), *c = memory<float>(most);
  for (const Shape& it : shapes)
    for (const Precision& by : precisions) {
      const int times = it.m < 100 ? 200 : 10;
      const float one = 1, zero = 0;
      const double each = microseconds(times, [&] {
        for (int i = 0; i < times; ++i)
          check(cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, it.n, it.m, it.k, &one, b, by.type, it.k, a,
                             by.type, it.k, &zero, c, CUDA_R_32F, it.n, by.compute, CUBLAS_GEMM_DEFAULT),
                "cublasGemmEx");
      });
      std::printf("product %s, %d x %d x %d, %s: %.2f us, %.1f TFLOP/s\n", it.what, it.m, it.n, it.k, by.name,
                  each, 2e-6 * it.m * it.n * it.k / each);
      std::fflush(stdout);
    }
}

// ---- Nodes of a graph.

__global__ void nothing(float* x) {
  if (x == nullptr) x[threadIdx.x] = 0;
}

// ---- Exchanges: each of `blocks` blocks says that it has come to step t, and waits until all others have.

constexpr int blocks = 128, steps = 1000;

__device__ void exchange(int* flags, int t) {
  __syncthreads();
  if (threadIdx.x == 0)
    asm volatile("st.release.gpu.s32 [%0], %1;" ::"l"(flags + blockIdx.x * 32), "r"(t) : "memory");
  if (threadIdx.x < blocks) {
    int seen;
    do asm volatile("ld.acquire.gpu.s32 %0, [%1];" : "=r"(seen) : "l"(flags + threadIdx.x * 32) : "memory");
    while (seen < t);
  }
  __syncthreads();
}

/// `words` numbers that all blocks read after each exchange, as they would the state of all units.
__global__ void exchanges(int* flags, int first, const float4* state, int words, float* sum) {
  float total = 0;
  for (int t = first; t < first + steps; ++t) {
    for (int i = threadIdx.x; i < words; i += blockDim.x) {
      const float4 x = __ldcg(state + i);
      total += x.x + x.y + x.z + x.w;
    }
    exchange(flags, t);
  }
  if (total == 1) *sum = total;
}

/// Blocks of a cluster read each other's shared memory after each barrier.
__global__ void __cluster_dims__(8) of_cluster(float* sum) {
#if __CUDA_ARCH__ >= 900
  __shared__ float own[1024];
  const auto cluster = cooperative_groups::this_cluster();
  float total = 0;
  for (int t = 0; t < steps; ++t) {
    own[threadIdx.x] = total;
    cluster.sync();
    for (unsigned i = 0; i < 8; ++i) total += cluster.map_shared_rank(own, i)[threadIdx.x];
    cluster.sync();
  }
  if (total == 1) *sum = total;
#endif
}

void blocks_together() {
  int* flags = memory<int>(blocks * 32);
  float* sum = memory<float>(1);
  int first = 1;
  const auto timed = [&](const char* what, int words) {
    float4* state = memory<float4>(static_cast<size_t>(words) + 1);
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin), "an event");
    check(cudaEventCreate(&end), "an event");
    float fastest = 1e30f;
    for (int i = 0; i < 4; ++i) {
      float milliseconds = 0;
      void* arguments[] = {&flags, &first, &state, &words, &sum};
      check(cudaEventRecord(begin, stream), "an event");
      check(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(exchanges), dim3(blocks), dim3(256),
                                        arguments, 0, stream),
            "a cooperative launch");
      check(cudaEventRecord(end, stream), "an event");
      check(cudaEventSynchronize(end), "exchanges");
      check(cudaEventElapsedTime(&milliseconds, begin, end), "an event");
      if (milliseconds < fastest) fastest = milliseconds;
      first += steps;
    }
    std::printf("%s: %.2f us\n", what, 1000.0 * fastest / steps);
    std::fflush(stdout);
  };
  timed("exchange of flags among 128 blocks", 0);
  timed("exchange, each block then reads 184 KB (B 80, H 1152, bf16)", 80 * 1152 * 2 / 16);
  timed("exchange, each block then reads 28 KB (B 12, H 1152, bf16)", 12 * 1152 * 2 / 16);
  const double each = microseconds(1, [&] { of_cluster<<<128, 1024, 0, stream>>>(sum); }) / steps;
  std::printf("two barriers of a cluster of 8 blocks, and 4 KB of each read by all: %.2f us\n", each);
}

}  // namespace

int main() {
  cudaDeviceProp it{};
  check(cudaGetDeviceProperties(&it, 0), "cudaGetDeviceProperties");
  std::printf("%s: %d multiprocessors, %zu KB of shared memory a block, %d KB of L2 cache\n", it.name,
              it.multiProcessorCount, it.sharedMemPerBlockOptin / 1024, it.l2CacheSize / 1024);
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream");
  float* x = memory<float>(1);
  for (const int nodes : {200, 2000}) {
    const double each = microseconds(nodes, [&] {
      for (int i = 0; i < nodes; ++i) nothing<<<64, 256, 0, stream>>>(x);
    });
    std::printf("node of a graph of %d: %.2f us\n", nodes, each);
    std::fflush(stdout);
  }
  blocks_together();
  products();
}

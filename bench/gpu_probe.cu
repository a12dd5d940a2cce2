// What a GPU can do, for the design of Rondo's kernels: matrix products by precision, nodes of a graph, nodes
// that begin before the one before them has ended. Each line is one measurement, printed as it is made.
// Alone, without the library, so that it runs where the library does not. bench/gpu_visit.py calls it.
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

namespace {

void check(int status, const char* what) {
  if (status == 0) return;
  std::printf("%s failed: status %d, %s\n", what, status, cudaGetErrorString(cudaGetLastError()));
  std::exit(1);
}

cudaStream_t stream;
constexpr int replays = 6;

/// Microseconds of work(), the fastest of all replays of its graph but the first; `times` is how often work()
/// does the same. It runs once before.
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
  for (int i = 0; i < replays; ++i) {
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
  check(cudaDeviceSynchronize(), "cudaMemset");  // our stream does not wait for it
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
    }
}

// ---- Nodes of a graph.

/// to = from + 1. If `early`, it is launched while the kernel before it ends, and waits until that has
/// written.
template <bool early>
__global__ void add_one(const float* from, float* to, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if constexpr (early) {
    cudaTriggerProgrammaticLaunchCompletion();  // the next kernel may be launched
    cudaGridDependencySynchronize();
  }
  if (i < count) to[i] = from[i] + 1;
}

/// A chain of kernels, each of which reads what the one before wrote; checks that it did.
template <bool early>
void chain_of_kernels(int count) {
  constexpr int nodes = 500, threads = 256;
  float *x = memory<float>(count), *y = memory<float>(count);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3((count + threads - 1) / threads);
  config.blockDim = dim3(threads);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = early ? 1 : 0;
  const double each = microseconds(nodes, [&] {
    for (int i = 0; i < nodes; ++i)
      check(cudaLaunchKernelEx(&config, add_one<early>, static_cast<const float*>(i % 2 ? y : x),
                               i % 2 ? x : y, count),
            "a kernel");
  });
  std::vector<float> result(count);
  check(cudaMemcpy(result.data(), x, count * sizeof(float), cudaMemcpyDeviceToHost), "cudaMemcpy");
  int wrong = 0;
  for (const float value : result) wrong += value != (1 + replays) * nodes;
  std::printf("chain of %d kernels on %d numbers, launched %s: %.2f us each, %d wrong\n", nodes, count,
              early ? "early" : "in turn", each, wrong);
}

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 1 << 12);  // each line as it is printed
  cudaDeviceProp it{};
  check(cudaGetDeviceProperties(&it, 0), "cudaGetDeviceProperties");
  std::printf("%s: %d multiprocessors, %zu KB of shared memory a block, %d KB of L2 cache\n", it.name,
              it.multiProcessorCount, it.sharedMemPerBlockOptin / 1024, it.l2CacheSize / 1024);
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream");
  for (const int count : {1, 20 * 1152, 80 * 1152}) {  // a node alone; a state of AWD-LSTM
    chain_of_kernels<false>(count);
    chain_of_kernels<true>(count);
  }
  products();
}

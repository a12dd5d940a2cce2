// The GPU: its one stream, its memory, its library of products.
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <fmt/format.h>

#include "cuda/runtime.h"
#include "cuda/stream.h"
#include "tensor/error.h"

namespace rondo::cuda {
namespace {

/// cuBLAS on our stream. Made by the first product, never destroyed, as tensors in static storage are not.
cublasHandle_t blas() {
  static const cublasHandle_t handle = [] {
    cublasHandle_t made = nullptr;
    cublasStatus_t status = cublasCreate(&made);
    if (status == CUBLAS_STATUS_SUCCESS) status = cublasSetStream(made, stream());
    // Float means float: no product is rounded to TF32 unless the user asks for it.
    if (status == CUBLAS_STATUS_SUCCESS) status = cublasSetMathMode(made, CUBLAS_PEDANTIC_MATH);
    check(status == CUBLAS_STATUS_SUCCESS, "[cuda] cuBLAS did not start: {}", cublasGetStatusString(status));
    return made;
  }();
  return handle;
}

std::string why_not() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  int driver = 0;
  if (error == cudaErrorInsufficientDriver && cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0)
    return "there is no driver of a GPU";
  if (error == cudaErrorInsufficientDriver)
    return "the driver of the GPU is older than this program's CUDA; update the driver";
  if (error != cudaSuccess || count == 0) return "there is no GPU that CUDA can use";
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess) return "the GPU does not answer";
  if (properties.major < oldest_capability)
    return fmt::format("{} has compute capability {}.{}, and this program needs {}.0 or newer",
                       properties.name, properties.major, properties.minor, oldest_capability);
  return "";
}

}  // namespace

/// Work fails when it runs, which is after it was asked for.
void check_status(cudaError_t status, const char* what) {
  check(status == cudaSuccess,
        "[cuda] the GPU failed at or before {}: {}; start again, with --device cpu if it fails again", what,
        cudaGetErrorString(status));
}

cudaStream_t stream() {
  static const cudaStream_t made = [] {
    cudaStream_t it = nullptr;
    check_status(cudaStreamCreateWithFlags(&it, cudaStreamNonBlocking), "making the stream");
    return it;
  }();
  return made;
}

std::string unavailable() {
  static const std::string reason = why_not();
  return reason;
}

std::string description() {
  cudaDeviceProp it{};
  int driver = 0;
  check_status(cudaGetDeviceProperties(&it, 0), "asking for its properties");
  check_status(cudaDriverGetVersion(&driver), "asking for the driver's version");
  return fmt::format("{}, {:.1f} GiB, compute capability {}.{}, driver for CUDA {}.{}", it.name,
                     static_cast<double>(it.totalGlobalMem) / (1 << 30), it.major, it.minor, driver / 1000,
                     driver % 1000 / 10);
}

void* system_block(std::size_t bytes) {
  void* block = nullptr;
  const cudaError_t status = cudaMalloc(&block, bytes);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // it is not an error of what comes next
    return nullptr;
  }
  check_status(status, "allocating memory");
  return block;
}

void free_system_block(void* block) { check_status(cudaFree(block), "freeing memory"); }

Memory memory() {
  Memory it{};
  check_status(cudaMemGetInfo(&it.free, &it.all), "asking for free memory");
  return it;
}

void upload(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  check_status(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream()), "copying to it");
}

void download(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0)
    check_status(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream()), "copying from it");
  synchronize();
}

void synchronize() { check_status(cudaStreamSynchronize(stream()), "waiting for its work"); }

namespace {

/// cuBLAS counts by columns: the transpose of c = a b is c^T = b^T a^T, and a row-major matrix is, by
/// columns, its own transpose.
template <class Number, class Product>
void multiply(Product product, int m, int n, int k, Matrix<const Number> a, Matrix<const Number> b,
              Number beta, Matrix<Number> c) {
  const auto operation = [](const Matrix<const Number>& it) {
    return it.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  };
  const Number one = 1;
  const cublasStatus_t status = product(blas(), operation(b), operation(a), n, m, k, &one, b.data,
                                        b.row_stride, a.data, a.row_stride, &beta, c.data, c.row_stride);
  check(status == CUBLAS_STATUS_SUCCESS, "[cuda] the product {}x{}x{} failed: {}", m, n, k,
        cublasGetStatusString(status));
}

}  // namespace

void gemm(int m, int n, int k, Matrix<const float> a, Matrix<const float> b, float beta, Matrix<float> c) {
  multiply<float>(cublasSgemm, m, n, k, a, b, beta, c);
}
void gemm(int m, int n, int k, Matrix<const double> a, Matrix<const double> b, double beta,
          Matrix<double> c) {
  multiply<double>(cublasDgemm, m, n, k, a, b, beta, c);
}

}  // namespace rondo::cuda

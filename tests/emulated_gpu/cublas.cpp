// cuBLAS on the emulated GPU: OpenBLAS, by columns, with factors as tensor cores read them.
#include <cblas.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "tests/emulated_gpu/cublas_v2.h"
#include "tests/emulated_gpu/mma.h"
#include "tests/emulated_gpu/perturb.h"
#include "tests/emulated_gpu/queue.h"

namespace rondo::emulated_gpu {
namespace {

/// A float with so many bits behind the point, rounded to the nearest or cut off.
float shortened(float x, int bits) {
  static const bool cuts = setting("truncate") != nullptr;
  uint32_t word;
  std::memcpy(&word, &x, sizeof word);
  const int dropped = 23 - bits;
  const uint32_t odd = word >> dropped & 1;
  word = (cuts ? word : word + (1u << (dropped - 1)) - 1 + odd) & ~((1u << dropped) - 1);
  std::memcpy(&x, &word, sizeof x);
  return x;
}
}  // namespace

float in_tf32(float x) { return std::isfinite(x) ? shortened(x, 10) : x; }

namespace {

/// A matrix [rows, columns] by columns, as tensor cores read it.
std::vector<float> in_tf32(const float* from, int rows, int columns, int stride) {
  std::vector<float> to(static_cast<size_t>(stride) * columns);
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < rows; ++i) {
      const size_t at = static_cast<size_t>(j) * stride + i;
      to[at] = emulated_gpu::in_tf32(from[at]);
    }
  return to;
}
std::vector<float> floats_of_bf16(const uint16_t* from, int rows, int columns, int stride) {
  std::vector<float> to(static_cast<size_t>(stride) * columns);
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < rows; ++i) {
      const size_t at = static_cast<size_t>(j) * stride + i;
      const uint32_t word = uint32_t{from[at]} << 16;
      std::memcpy(&to[at], &word, sizeof word);
    }
  return to;
}

/// As if the terms had been added in another order.
void perturb(float* c, int rows, int columns, int stride) {
  if (perturbation() == 0) return;
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < rows; ++i) {
      const bool up = scattered((static_cast<uint64_t>(j) << 32) + static_cast<uint64_t>(i)) & 1;
      c[static_cast<size_t>(j) * stride + i] *= up ? 1 + 0x1p-22f : 1 - 0x1p-22f;
    }
}

size_t bytes_of(cudaDataType_t type) { return type == CUDA_R_64F ? 8 : type == CUDA_R_32F ? 4 : 2; }

}  // namespace
}  // namespace rondo::emulated_gpu

using namespace rondo::emulated_gpu;

struct EmulatedBlas {};
const char* cublasGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS ? "CUBLAS_STATUS_SUCCESS" : "CUBLAS_STATUS_INVALID_VALUE";
}
cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  *handle = new EmulatedBlas;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream(cublasHandle_t, cudaStream_t) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasSetWorkspace(cublasHandle_t, void*, std::size_t) { return CUBLAS_STATUS_SUCCESS; }

cublasStatus_t cublasGemmEx(cublasHandle_t, cublasOperation_t a_op, cublasOperation_t b_op, int m, int n,
                            int k, const void* alpha, const void* a, cudaDataType_t type, int lda,
                            const void* b, cudaDataType_t b_type, int ldb, const void* beta, void* c,
                            cudaDataType_t c_type, int ldc, cublasComputeType_t compute, cublasGemmAlgo_t) {
  const int a_rows = a_op == CUBLAS_OP_N ? m : k, b_rows = b_op == CUBLAS_OP_N ? k : n;
  if (m < 0 || n < 0 || k < 0 || lda < a_rows || ldb < b_rows || ldc < m || type != b_type ||
      c_type != (type == CUDA_R_16BF ? CUDA_R_32F : type) ||
      (type == CUDA_R_64F) != (compute == CUBLAS_COMPUTE_64F) ||
      (compute == CUBLAS_COMPUTE_32F_FAST_TF32 && type != CUDA_R_32F))
    return CUBLAS_STATUS_INVALID_VALUE;
  const auto blas = [](cublasOperation_t op) { return op == CUBLAS_OP_N ? CblasNoTrans : CblasTrans; };
  const auto number = [&](const void* at) {
    return type == CUDA_R_64F ? *static_cast<const double*>(at) : *static_cast<const float*>(at);
  };
  const auto unaligned = [&](const void* at, cudaDataType_t of, int columns, int stride) {
    return columns > 1 && (reinterpret_cast<uintptr_t>(at) % 16 != 0 || stride * bytes_of(of) % 16 != 0);
  };
  const int a_columns = a_op == CUBLAS_OP_N ? k : m, b_columns = b_op == CUBLAS_OP_N ? n : k;
  count_unaligned(unaligned(a, type, a_columns, lda) + unaligned(b, type, b_columns, ldb) +
                  unaligned(c, c_type, n, ldc));
  enqueue([=, alpha = number(alpha), beta = number(beta)] {
    count_launch();
    if (type == CUDA_R_64F) {
      cblas_dgemm(CblasColMajor, blas(a_op), blas(b_op), m, n, k, alpha, static_cast<const double*>(a), lda,
                  static_cast<const double*>(b), ldb, beta, static_cast<double*>(c), ldc);
      return;
    }
    const auto *left = static_cast<const float*>(a), *right = static_cast<const float*>(b);
    std::vector<float> left_read, right_read;
    if (type == CUDA_R_16BF) {
      left_read = floats_of_bf16(static_cast<const uint16_t*>(a), a_rows, a_columns, lda);
      right_read = floats_of_bf16(static_cast<const uint16_t*>(b), b_rows, b_columns, ldb);
    } else if (compute == CUBLAS_COMPUTE_32F_FAST_TF32) {
      left_read = in_tf32(left, a_rows, a_columns, lda);
      right_read = in_tf32(right, b_rows, b_columns, ldb);
    }
    if (!left_read.empty()) left = left_read.data();
    if (!right_read.empty()) right = right_read.data();
    cblas_sgemm(CblasColMajor, blas(a_op), blas(b_op), m, n, k, static_cast<float>(alpha), left, lda, right,
                ldb, static_cast<float>(beta), static_cast<float*>(c), ldc);
    if (k > 1) perturb(static_cast<float*>(c), m, n, ldc);
  });
  return CUBLAS_STATUS_SUCCESS;
}

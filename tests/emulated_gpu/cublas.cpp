// cuBLAS on the emulated GPU: OpenBLAS, by columns, with factors rounded as tensor cores round them.
#include <cblas.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "tests/emulated_gpu/cublas_v2.h"
#include "tests/emulated_gpu/queue.h"

namespace rondo::emulated_gpu {
namespace {

/// A float with so many bits behind the point, rounded to the nearest.
float rounded(float x, int bits) {
  uint32_t word;
  std::memcpy(&word, &x, sizeof word);
  const int dropped = 23 - bits;
  const uint32_t odd = word >> dropped & 1;
  word = (word + (1u << (dropped - 1)) - 1 + odd) & ~((1u << dropped) - 1);
  std::memcpy(&x, &word, sizeof x);
  return x;
}
/// A matrix [rows, columns] by columns; float, as tensor cores read it.
std::vector<float> rounded(const float* from, int rows, int columns, int stride, int bits) {
  std::vector<float> to(static_cast<size_t>(stride) * columns);
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < rows; ++i) {
      const size_t at = static_cast<size_t>(j) * stride + i;
      to[at] = std::isfinite(from[at]) ? rounded(from[at], bits) : from[at];
    }
  return to;
}

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
      type != c_type || (type == CUDA_R_64F) != (compute == CUBLAS_COMPUTE_64F))
    return CUBLAS_STATUS_INVALID_VALUE;
  const auto blas = [](cublasOperation_t op) { return op == CUBLAS_OP_N ? CblasNoTrans : CblasTrans; };
  const auto number = [&](const void* at) {
    return type == CUDA_R_64F ? *static_cast<const double*>(at) : *static_cast<const float*>(at);
  };
  const auto unaligned = [&](const void* at, int columns, int stride) {
    const size_t bytes = type == CUDA_R_64F ? sizeof(double) : sizeof(float);
    return columns > 1 && (reinterpret_cast<uintptr_t>(at) % 16 != 0 || stride * bytes % 16 != 0);
  };
  const int a_columns = a_op == CUBLAS_OP_N ? k : m, b_columns = b_op == CUBLAS_OP_N ? n : k;
  count_unaligned(unaligned(a, a_columns, lda) + unaligned(b, b_columns, ldb) + unaligned(c, n, ldc));
  enqueue([=, alpha = number(alpha), beta = number(beta)] {
    count_launch();
    if (type == CUDA_R_64F) {
      cblas_dgemm(CblasColMajor, blas(a_op), blas(b_op), m, n, k, alpha, static_cast<const double*>(a), lda,
                  static_cast<const double*>(b), ldb, beta, static_cast<double*>(c), ldc);
      return;
    }
    const auto *left = static_cast<const float*>(a), *right = static_cast<const float*>(b);
    std::vector<float> rounded_left, rounded_right;
    if (compute != CUBLAS_COMPUTE_32F) {
      const int bits = compute == CUBLAS_COMPUTE_32F_FAST_TF32 ? 10 : 7;
      rounded_left = rounded(left, a_rows, a_columns, lda, bits);
      rounded_right = rounded(right, b_rows, b_columns, ldb, bits);
      left = rounded_left.data();
      right = rounded_right.data();
    }
    cblas_sgemm(CblasColMajor, blas(a_op), blas(b_op), m, n, k, static_cast<float>(alpha), left, lda, right,
                ldb, static_cast<float>(beta), static_cast<float*>(c), ldc);
  });
  return CUBLAS_STATUS_SUCCESS;
}

// Stands in for cuBLASLt's header on the emulated GPU: the products that Rondo calls.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/emulated_gpu/cuda_runtime.h"

enum cublasStatus_t { CUBLAS_STATUS_SUCCESS, CUBLAS_STATUS_INVALID_VALUE, CUBLAS_STATUS_NOT_SUPPORTED };
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T };
enum cudaDataType_t { CUDA_R_32F, CUDA_R_64F, CUDA_R_16BF };
enum cublasComputeType_t {
  CUBLAS_COMPUTE_32F,
  CUBLAS_COMPUTE_32F_FAST_TF32,
  CUBLAS_COMPUTE_64F,
};
enum cublasLtEpilogue_t { CUBLASLT_EPILOGUE_DEFAULT = 1, CUBLASLT_EPILOGUE_BIAS = 4 };
enum cublasLtMatmulDescAttributes_t {
  CUBLASLT_MATMUL_DESC_TRANSA,
  CUBLASLT_MATMUL_DESC_TRANSB,
  CUBLASLT_MATMUL_DESC_EPILOGUE,
  CUBLASLT_MATMUL_DESC_BIAS_POINTER,
};
enum cublasLtMatrixLayoutAttribute_t {
  CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
  CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
};
enum cublasLtMatmulPreferenceAttributes_t {
  CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES,
};
using cublasLtHandle_t = struct EmulatedBlas*;

/// A product as it was described.
struct cublasLtMatmulDescOpaque_t {
  cublasComputeType_t compute;
  cudaDataType_t scale;
  cublasOperation_t a_op, b_op;
  cublasLtEpilogue_t epilogue;
  const void* bias;
};
/// A matrix by columns, `stride` numbers apart, or a batch of them.
struct cublasLtMatrixLayoutOpaque_t {
  cudaDataType_t type;
  uint64_t rows, columns;
  int64_t stride;
  int32_t batch_count = 1;
  int64_t batch_offset = 0;  // from matrix to matrix
  bool operator==(const cublasLtMatrixLayoutOpaque_t&) const = default;
};
struct cublasLtMatmulPreferenceOpaque_t {
  uint64_t workspace_bytes;
  uint32_t alignments[4];  // of a, b, c, d
};
/// What it was chosen for: a product that differs in any of this needs another.
struct cublasLtMatmulAlgo_t {
  cublasLtMatmulDescOpaque_t operation;
  cublasLtMatrixLayoutOpaque_t matrices[4];
  cublasLtMatmulPreferenceOpaque_t preference;
  std::size_t workspace_bytes = 0;  // that it needs
};
struct cublasLtMatmulHeuristicResult_t {
  cublasLtMatmulAlgo_t algo;
  std::size_t workspaceSize;
  cublasStatus_t state;
};

const char* cublasLtGetStatusString(cublasStatus_t status);
cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle);
cublasStatus_t cublasLtMatmulDescInit(cublasLtMatmulDescOpaque_t* operation, cublasComputeType_t compute,
                                      cudaDataType_t scale);
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDescOpaque_t* operation,
                                              cublasLtMatmulDescAttributes_t what, const void* value,
                                              std::size_t bytes);
cublasStatus_t cublasLtMatrixLayoutInit(cublasLtMatrixLayoutOpaque_t* layout, cudaDataType_t type,
                                        uint64_t rows, uint64_t columns, int64_t stride);
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayoutOpaque_t* layout,
                                                cublasLtMatrixLayoutAttribute_t what, const void* value,
                                                std::size_t bytes);
cublasStatus_t cublasLtMatmulPreferenceInit(cublasLtMatmulPreferenceOpaque_t* preference);
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreferenceOpaque_t* preference,
                                                    cublasLtMatmulPreferenceAttributes_t what,
                                                    const void* value, std::size_t bytes);

/// It finds an algorithm for matrices of CUDA_R_32F, and for a and b of CUDA_R_16BF with c and d of
/// CUDA_R_32F. It needs a workspace, to add up parts of long sums of few numbers. With a bias only if that is
/// aligned to 16 bytes.
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDescOpaque_t* operation,
                                              cublasLtMatrixLayoutOpaque_t* a,
                                              cublasLtMatrixLayoutOpaque_t* b,
                                              cublasLtMatrixLayoutOpaque_t* c,
                                              cublasLtMatrixLayoutOpaque_t* d,
                                              cublasLtMatmulPreferenceOpaque_t* preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t* results, int* found);
/// d = alpha a b + beta c, and the bias to each column of d.
cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDescOpaque_t* operation,
                              const void* alpha, const void* a, cublasLtMatrixLayoutOpaque_t* a_layout,
                              const void* b, cublasLtMatrixLayoutOpaque_t* b_layout, const void* beta,
                              const void* c, cublasLtMatrixLayoutOpaque_t* c_layout, void* d,
                              cublasLtMatrixLayoutOpaque_t* d_layout, const cublasLtMatmulAlgo_t* algorithm,
                              void* workspace, std::size_t workspace_bytes, cudaStream_t stream);

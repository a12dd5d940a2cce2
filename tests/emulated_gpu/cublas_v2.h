// Stands in for cuBLAS's header on the emulated GPU: the products that Rondo calls.
#pragma once

#include "tests/emulated_gpu/cuda_runtime.h"

enum cublasStatus_t { CUBLAS_STATUS_SUCCESS, CUBLAS_STATUS_INVALID_VALUE };
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T };
enum cudaDataType_t { CUDA_R_32F, CUDA_R_64F, CUDA_R_16BF };
enum cublasComputeType_t {
  CUBLAS_COMPUTE_32F,
  CUBLAS_COMPUTE_32F_FAST_TF32,
  CUBLAS_COMPUTE_64F,
};
enum cublasGemmAlgo_t { CUBLAS_GEMM_DEFAULT };
using cublasHandle_t = struct EmulatedBlas*;

const char* cublasGetStatusString(cublasStatus_t status);
cublasStatus_t cublasCreate(cublasHandle_t* handle);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void* workspace, std::size_t bytes);

/// All three matrices are of one type, or a and b of CUDA_R_16BF and c of CUDA_R_32F.
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t a_op, cublasOperation_t b_op, int m,
                            int n, int k, const void* alpha, const void* a, cudaDataType_t a_type, int lda,
                            const void* b, cudaDataType_t b_type, int ldb, const void* beta, void* c,
                            cudaDataType_t c_type, int ldc, cublasComputeType_t compute,
                            cublasGemmAlgo_t algorithm);

// cuBLASLt on the emulated GPU: OpenBLAS, by columns, with factors as tensor cores read them. It computes in
// float alone: the emulated GPU is built for the library in float.
#include <cblas.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "tests/emulated_gpu/cublasLt.h"
#include "tests/emulated_gpu/queue.h"

namespace rondo::emulated_gpu {
namespace {

/// A float with 10 bits behind the point, as tensor cores read it in TF32.
float in_tf32(float x) {
  if (!std::isfinite(x)) return x;
  constexpr int dropped = 13;
  const auto word = std::bit_cast<uint32_t>(x);
  return std::bit_cast<float>((word + (1u << (dropped - 1)) - 1 + (word >> dropped & 1)) &
                              ~((1u << dropped) - 1));
}
float of_bf16(uint16_t x) { return std::bit_cast<float>(uint32_t{x} << 16); }
/// A matrix [rows, columns] by columns, each number as read(number).
template <class Number, class Read>
std::vector<float> as_read_by(Read read, const Number* from, int rows, int columns, int stride) {
  std::vector<float> to(static_cast<size_t>(stride) * columns);
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < rows; ++i) {
      const size_t at = static_cast<size_t>(j) * stride + i;
      to[at] = read(from[at]);
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

size_t bytes_of(cudaDataType_t type) { return type == CUDA_R_32F ? 4 : 2; }

}  // namespace
}  // namespace rondo::emulated_gpu

using namespace rondo::emulated_gpu;

struct EmulatedBlas {};

namespace {

/// Whether the matrices of an algorithm fit each other, and the types of all.
bool fits(const cublasLtMatmulAlgo_t& it) {
  const auto& [a, b, c, d] = it.matrices;
  const auto rows = [](const auto& matrix, cublasOperation_t op) {
    return op == CUBLAS_OP_N ? matrix.rows : matrix.columns;
  };
  const auto columns = [](const auto& matrix, cublasOperation_t op) {
    return op == CUBLAS_OP_N ? matrix.columns : matrix.rows;
  };
  const int32_t d_batch = d.batch_count;
  for (const auto& matrix : it.matrices)
    if (matrix.rows == 0 || matrix.columns == 0 || matrix.stride < static_cast<int64_t>(matrix.rows) ||
        matrix.batch_count != d_batch)
      return false;
  const auto [compute, scale, a_op, b_op, epilogue, bias] = it.operation;
  return rows(a, a_op) == d.rows && columns(b, b_op) == d.columns && columns(a, a_op) == rows(b, b_op) &&
         c.rows == d.rows && c.columns == d.columns && a.type == b.type && c.type == d.type &&
         d.type == CUDA_R_32F && scale == CUDA_R_32F && a.type != CUDA_R_64F &&
         compute != CUBLAS_COMPUTE_64F && (compute != CUBLAS_COMPUTE_32F_FAST_TF32 || a.type == CUDA_R_32F) &&
         (epilogue == CUBLASLT_EPILOGUE_BIAS) == (bias != nullptr);
}

bool aligned(const void* at, uint32_t bytes) { return reinterpret_cast<uintptr_t>(at) % bytes == 0; }

/// The largest power of two, up to 256, that divides an address.
uintptr_t alignment_of(const void* at) {
  const auto address = reinterpret_cast<uintptr_t>(at);
  return std::min<uintptr_t>(256, address & (~address + 1));
}

/// Whether it was chosen for this product: only the bias may be another, if that is aligned as the first.
bool chosen_for(const cublasLtMatmulAlgo_t& it, const cublasLtMatmulDescOpaque_t& now) {
  const auto& then = it.operation;
  return then.compute == now.compute && then.scale == now.scale && then.a_op == now.a_op &&
         then.b_op == now.b_op && then.epilogue == now.epilogue &&
         (then.bias == nullptr) == (now.bias == nullptr) && alignment_of(now.bias) >= alignment_of(then.bias);
}

}  // namespace

const char* cublasLtGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS         ? "CUBLAS_STATUS_SUCCESS"
         : status == CUBLAS_STATUS_INVALID_VALUE ? "CUBLAS_STATUS_INVALID_VALUE"
                                                 : "CUBLAS_STATUS_NOT_SUPPORTED";
}
cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = new EmulatedBlas;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescInit(cublasLtMatmulDescOpaque_t* operation, cublasComputeType_t compute,
                                      cudaDataType_t scale) {
  *operation = {compute, scale, CUBLAS_OP_N, CUBLAS_OP_N, CUBLASLT_EPILOGUE_DEFAULT, nullptr};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDescOpaque_t* operation,
                                              cublasLtMatmulDescAttributes_t what, const void* value,
                                              std::size_t bytes) {
  const auto set = [&](auto& to) {
    if (bytes != sizeof to) return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(&to, value, sizeof to);
    return CUBLAS_STATUS_SUCCESS;
  };
  switch (what) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return set(operation->a_op);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return set(operation->b_op);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return set(operation->epilogue);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return set(operation->bias);
  }
  return CUBLAS_STATUS_INVALID_VALUE;
}
cublasStatus_t cublasLtMatrixLayoutInit(cublasLtMatrixLayoutOpaque_t* layout, cudaDataType_t type,
                                        uint64_t rows, uint64_t columns, int64_t stride) {
  *layout = {type, rows, columns, stride};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayoutOpaque_t* layout,
                                                cublasLtMatrixLayoutAttribute_t what, const void* value,
                                                std::size_t bytes) {
  const bool counts = what == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT;
  void* to = counts ? static_cast<void*>(&layout->batch_count) : &layout->batch_offset;
  if (bytes != (counts ? sizeof(int32_t) : sizeof(int64_t))) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(to, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceInit(cublasLtMatmulPreferenceOpaque_t* preference) {
  *preference = {0, {256, 256, 256, 256}};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreferenceOpaque_t* preference,
                                                    cublasLtMatmulPreferenceAttributes_t what,
                                                    const void* value, std::size_t bytes) {
  const bool of_workspace = what == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES;
  void* to = of_workspace ? static_cast<void*>(&preference->workspace_bytes)
                          : &preference->alignments[what - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES];
  if (bytes != (of_workspace ? sizeof(uint64_t) : sizeof(uint32_t))) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(to, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDescOpaque_t* operation,
                                              cublasLtMatrixLayoutOpaque_t* a,
                                              cublasLtMatrixLayoutOpaque_t* b,
                                              cublasLtMatrixLayoutOpaque_t* c,
                                              cublasLtMatrixLayoutOpaque_t* d,
                                              cublasLtMatmulPreferenceOpaque_t* preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t* results, int* found) {
  cublasLtMatmulAlgo_t it{*operation, {*a, *b, *c, *d}, *preference};
  *found = 0;
  if (wanted < 1 || preference->workspace_bytes == 0 || !fits(it)) return CUBLAS_STATUS_INVALID_VALUE;
  if (!aligned(operation->bias, 16)) return CUBLAS_STATUS_NOT_SUPPORTED;
  const uint64_t terms = operation->a_op == CUBLAS_OP_N ? a->columns : a->rows, parts = 4;
  if (terms > std::max(d->rows, d->columns))
    it.workspace_bytes = parts * d->rows * d->columns * sizeof(float);
  it.workspace_bytes = std::min<std::size_t>(it.workspace_bytes, preference->workspace_bytes);
  results[0] = {it, it.workspace_bytes, CUBLAS_STATUS_SUCCESS};
  *found = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDescOpaque_t* operation, const void* alpha,
                              const void* a, cublasLtMatrixLayoutOpaque_t* a_layout, const void* b,
                              cublasLtMatrixLayoutOpaque_t* b_layout, const void* beta, const void* c,
                              cublasLtMatrixLayoutOpaque_t* c_layout, void* d,
                              cublasLtMatrixLayoutOpaque_t* d_layout, const cublasLtMatmulAlgo_t* algorithm,
                              void* workspace, std::size_t workspace_bytes, cudaStream_t) {
  const cublasLtMatrixLayoutOpaque_t matrices[] = {*a_layout, *b_layout, *c_layout, *d_layout};
  const void* const addresses[] = {a, b, c, d};
  for (int i = 0; i < 4; ++i)
    if (!(matrices[i] == algorithm->matrices[i]) ||
        !aligned(addresses[i], algorithm->preference.alignments[i]) ||
        static_cast<size_t>(matrices[i].batch_offset) * bytes_of(matrices[i].type) %
                algorithm->preference.alignments[i] !=
            0)
      return CUBLAS_STATUS_INVALID_VALUE;
  if (!chosen_for(*algorithm, *operation) || workspace == nullptr ||
      workspace_bytes < algorithm->workspace_bytes || (c == d && c_layout->stride != d_layout->stride))
    return CUBLAS_STATUS_INVALID_VALUE;
  const auto unaligned = [&](int i) {
    return matrices[i].columns > 1 &&
           (!aligned(addresses[i], 16) ||
            static_cast<size_t>(matrices[i].stride) * bytes_of(matrices[i].type) % 16 != 0);
  };
  count_unaligned(unaligned(0) + unaligned(1) + unaligned(3));
  const auto ragged = [&](int i) {
    const size_t bytes = matrices[i].rows * bytes_of(matrices[i].type);
    return matrices[i].columns > 1 && bytes > 16 && bytes % 16 != 0;
  };
  count_ragged(ragged(0) + ragged(1));
  const cudaDataType_t type = a_layout->type;
  const auto one = [operation = *operation, left = *a_layout, right = *b_layout, start = *c_layout,
                    result = *d_layout, type, in_place = c == d, alpha = *static_cast<const float*>(alpha),
                    beta = *static_cast<const float*>(beta)](const void* left_at, const void* right_at,
                                                             const void* start_at, void* to_at) {
    const int m = static_cast<int>(result.rows), n = static_cast<int>(result.columns),
              k = static_cast<int>(operation.a_op == CUBLAS_OP_N ? left.columns : left.rows);
    const auto blas = [](cublasOperation_t op) { return op == CUBLAS_OP_N ? CblasNoTrans : CblasTrans; };
    const auto stride = [](const auto& layout) { return static_cast<int>(layout.stride); };
    const auto as_read = [&](const void* from, const auto& layout) {
      const int rows = static_cast<int>(layout.rows), columns = static_cast<int>(layout.columns);
      return type == CUDA_R_16BF
                 ? as_read_by(of_bf16, static_cast<const uint16_t*>(from), rows, columns, stride(layout))
             : operation.compute == CUBLAS_COMPUTE_32F_FAST_TF32
                 ? as_read_by(in_tf32, static_cast<const float*>(from), rows, columns, stride(layout))
                 : std::vector<float>();
    };
    const std::vector<float> left_read = as_read(left_at, left), right_read = as_read(right_at, right);
    auto* const to = static_cast<float*>(to_at);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m && !in_place && beta != 0; ++i)
        to[j * result.stride + i] = static_cast<const float*>(start_at)[j * start.stride + i];
    cblas_sgemm(CblasColMajor, blas(operation.a_op), blas(operation.b_op), m, n, k, alpha,
                left_read.empty() ? static_cast<const float*>(left_at) : left_read.data(), stride(left),
                right_read.empty() ? static_cast<const float*>(right_at) : right_read.data(), stride(right),
                beta, to, stride(result));
    for (int j = 0; j < n && operation.bias; ++j)
      for (int i = 0; i < m; ++i) to[j * result.stride + i] += static_cast<const float*>(operation.bias)[i];
    if (k > 1) perturb(to, m, n, stride(result));
  };
  Arguments used{"product", {a, b, c, d}};
  if (operation->bias) used.addresses.push_back(operation->bias);
  if (algorithm->workspace_bytes > 0) used.addresses.push_back(workspace);
  const auto work = [=, parts = algorithm->workspace_bytes,
                     layouts = std::array{*a_layout, *b_layout, *c_layout, *d_layout}] {
    count_launch();
    static uint32_t runs = 0;  // it leaves NaN there, another one each time: a change that shows
    std::fill_n(static_cast<uint32_t*>(workspace), parts / sizeof(uint32_t), 0xffffff00 | ++runs % 255);
    for (int64_t i = 0; i < layouts[3].batch_count; ++i) {
      const auto matrix = [&](const void* first, const auto& of) {
        return static_cast<const char*>(first) + static_cast<size_t>(i * of.batch_offset) * bytes_of(of.type);
      };
      one(matrix(a, layouts[0]), matrix(b, layouts[1]), matrix(c, layouts[2]),
          const_cast<char*>(matrix(d, layouts[3])));
    }
  };
  enqueue(work, std::move(used));
  return CUBLAS_STATUS_SUCCESS;
}

// Products by cuBLASLt. Unlike cuBLAS, it adds a row to the product (a bias) or a matrix that is not the
// result, both without a pass over memory; and the algorithm for each shape is chosen once, here.
#include <cublasLt.h>

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "cuda/accesses.h"
#include "cuda/launch.h"
#include "cuda/products.h"
#include "cuda/runtime.h"
#include "cuda/stream.h"
#include "tensor/error.h"

namespace rondo::cuda {
namespace {

/// Created by the first product and never destroyed, like tensors in static storage.
struct Library {
  cublasLtHandle_t handle = nullptr;
  void* workspace = system_block(workspace_bytes);
  void* rooms = nullptr;  // of products that may run beside each other: room_bytes

  Library() {
    check(workspace != nullptr,
          "[cuda] no memory on the GPU for the {} bytes that cuBLAS works in; use --device cpu",
          workspace_bytes);
    const cublasStatus_t status = cublasLtCreate(&handle);
    check(status == CUBLAS_STATUS_SUCCESS,
          "[cuda] cuBLAS did not start: {}; free memory on the GPU, or use --device cpu",
          cublasLtGetStatusString(status));
  }
};
Library& library() {
  static Library it;
  return it;
}
constexpr std::size_t room_bytes = 4 * workspace_bytes;

/// Begins the launch of a product that works in so many bytes, and says where it does.
void* begin_product(std::size_t bytes) {
  std::vector<Access> rooms;
  if (notes_accesses && bytes > 0) {
    const auto begin = reinterpret_cast<std::uintptr_t>(library().rooms);
    const std::size_t room = (bytes + 255) / 256 * 256, count = std::min<std::size_t>(room_bytes / room, 32);
    for (std::size_t i = 0; i < count; ++i)
      rooms.push_back({begin + i * room, begin + i * room + bytes, true});
  }
  const std::size_t room = begin_launch(rooms);
  return rooms.empty() ? library().workspace : reinterpret_cast<void*>(rooms[room].begin);
}

/// What an algorithm is chosen for. cuBLASLt counts by columns: a row-major matrix is its transpose there, so
/// a result c = a b is computed as c^T = b^T a^T.
struct Product {
  enum class Starts { at_zero, at_row, at_matrix };

  int m, n, k, count;
  int a_stride, b_stride, start_stride, c_stride;
  std::int64_t a_step, b_step, start_step, c_step;
  bool a_transposed, b_transposed;
  Starts starts;
  int a_alignment, b_alignment, start_alignment, c_alignment;
  cudaDataType_t factors, result;
  cublasComputeType_t compute;

  auto operator<=>(const Product&) const = default;
};

void check_step(cublasStatus_t status, const Product& it, const char* what) {
  check(status == CUBLAS_STATUS_SUCCESS, "[cuda] {} for {} product(s) {}x{}x{} failed: {}", what, it.count,
        it.m, it.n, it.k, cublasLtGetStatusString(status));
}

/// The descriptions of a product's matrices, and its algorithm: the first choice of the library's heuristic,
/// which depends on nothing but the Product, so that a run gives the same bits again.
struct Plan {
  cublasLtMatmulDescOpaque_t operation;
  cublasLtMatrixLayoutOpaque_t a, b, start, c;
  cublasLtMatmulAlgo_t algorithm;
  std::size_t bytes = 0;  // of workspace that the algorithm needs
  bool found = false;

  explicit Plan(const Product& it) {
    check_step(cublasLtMatmulDescInit(&operation, it.compute, it.result), it, "describing the operation");
    set(it, CUBLASLT_MATMUL_DESC_TRANSA, it.b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(it, CUBLASLT_MATMUL_DESC_TRANSB, it.a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    if (it.starts == Product::Starts::at_row) {
      set(it, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
      // The choice depends on how the row is aligned: this stands for any row with that alignment.
      set(it, CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<uintptr_t>(it.start_alignment));
    }
    describe(a, it, it.factors, it.a_transposed ? it.m : it.k, it.a_transposed ? it.k : it.m, it.a_stride,
             it.a_step);
    describe(b, it, it.factors, it.b_transposed ? it.k : it.n, it.b_transposed ? it.n : it.k, it.b_stride,
             it.b_step);
    const bool at_matrix = it.starts == Product::Starts::at_matrix;
    describe(start, it, it.result, it.n, it.m, at_matrix ? it.start_stride : it.c_stride,
             at_matrix ? it.start_step : it.c_step);
    describe(c, it, it.result, it.n, it.m, it.c_stride, it.c_step);

    cublasLtMatmulPreferenceOpaque_t preference;
    check_step(cublasLtMatmulPreferenceInit(&preference), it, "describing the choice");
    const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t what, const auto& value) {
      check_step(cublasLtMatmulPreferenceSetAttribute(&preference, what, &value, sizeof value), it,
                 "describing the choice");
    };
    prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<uint64_t>(workspace_bytes));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, static_cast<uint32_t>(it.b_alignment));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, static_cast<uint32_t>(it.a_alignment));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
           static_cast<uint32_t>(at_matrix ? it.start_alignment : it.c_alignment));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, static_cast<uint32_t>(it.c_alignment));
    cublasLtMatmulHeuristicResult_t choice{};
    int count = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(library().handle, &operation, &b, &a, &start,
                                                                 &c, &preference, 1, &choice, &count);
    found = status == CUBLAS_STATUS_SUCCESS && count == 1 && choice.state == CUBLAS_STATUS_SUCCESS;
    algorithm = choice.algo;
    bytes = choice.workspaceSize;
  }

  void set(const Product& it, cublasLtMatmulDescAttributes_t what, const auto& value) {
    check_step(cublasLtMatmulDescSetAttribute(&operation, what, &value, sizeof value), it,
               "describing the operation");
  }
  static void describe(cublasLtMatrixLayoutOpaque_t& to, const Product& it, cudaDataType_t type, int rows,
                       int columns, int stride, std::int64_t step) {
    check_step(cublasLtMatrixLayoutInit(&to, type, static_cast<uint64_t>(rows),
                                        static_cast<uint64_t>(columns), stride),
               it, "describing a matrix");
    if (it.count == 1) return;
    const auto set_batch = [&](cublasLtMatrixLayoutAttribute_t what, const auto& value) {
      check_step(cublasLtMatrixLayoutSetAttribute(&to, what, &value, sizeof value), it, "describing a batch");
    };
    set_batch(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<int32_t>(it.count));
    set_batch(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, step);
  }
};

Plan& plan_of(const Product& it) {
  static std::map<Product, Plan> plans;
  const auto known = plans.find(it);
  return known != plans.end() ? known->second : plans.try_emplace(it, it).first->second;
}

/// The alignment that all matrices of a batch share: 16 bytes, as rows are aligned (aligned_row_stride() in
/// tensor/tensor.h), or only a number. Not more, even where an address is: the algorithm would depend on
/// where a tensor happens to lie.
template <class Number>
int alignment_of(const Number* data, std::int64_t step) {
  const bool aligned = reinterpret_cast<uintptr_t>(data) % 16 == 0 && step * sizeof(Number) % 16 == 0;
  return aligned ? 16 : static_cast<int>(sizeof(Number));
}

template <class Number>
struct RepeatRow {
  const Number* row;
  Matrix<Number> to;
  int64_t columns;
  __device__ void operator()(int64_t i) const {
    to.data[i / columns * to.row_stride + i % columns] = row[i % columns];
  }
};

template <class Number>
constexpr cudaDataType_t type_of = CUDA_R_32F;
template <>
constexpr cudaDataType_t type_of<double> = CUDA_R_64F;
template <>
constexpr cudaDataType_t type_of<Bf16> = CUDA_R_16BF;

template <class Number>
void note(const ProductSize& size, const Matrix<Number>& it, int rows, int columns, bool writes) {
  if (it.transposed) std::swap(rows, columns);
  const std::int64_t numbers = (size.count - 1) * it.step + std::int64_t{rows - 1} * it.row_stride + columns;
  note_access(it.data, static_cast<std::size_t>(numbers) * sizeof(Number), writes);
}

template <class Factor, class Number>
void multiply(cublasComputeType_t compute, const ProductSize& size, Matrix<const Factor> a,
              Matrix<const Factor> b, Matrix<const Number> start, Matrix<Number> c) {
  using enum Product::Starts;
  const auto starts = start.data == nullptr ? at_zero : start.row_stride == 0 ? at_row : at_matrix;
  check(starts != at_row || size.count == 1, "[cuda] a batch of products is not added to a row");
  const Product product{.m = size.m,
                        .n = size.n,
                        .k = size.k,
                        .count = size.count,
                        .a_stride = a.row_stride,
                        .b_stride = b.row_stride,
                        .start_stride = start.row_stride,
                        .c_stride = c.row_stride,
                        .a_step = a.step,
                        .b_step = b.step,
                        .start_step = start.step,
                        .c_step = c.step,
                        .a_transposed = a.transposed,
                        .b_transposed = b.transposed,
                        .starts = starts,
                        .a_alignment = alignment_of(a.data, a.step),
                        .b_alignment = alignment_of(b.data, b.step),
                        .start_alignment = alignment_of(start.data, start.step),
                        .c_alignment = alignment_of(c.data, c.step),
                        .factors = type_of<Factor>,
                        .result = type_of<Number>,
                        .compute = compute};
  Plan& plan = plan_of(product);
  note(size, start, starts == at_row ? 1 : size.m, size.n, false);
  note(size, c, size.m, size.n, true);
  if (!plan.found && starts == at_row) {  // an earlier pass adds this row
    launch_threads(int64_t{size.m} * size.n, RepeatRow<Number>{start.data, c, size.n});
    return multiply(compute, size, a, b, {c.data, c.row_stride}, c);
  }
  check_step(plan.found ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED, product,
             "choosing an algorithm");
  if (starts == at_row) plan.set(product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, start.data);
  note(size, a, size.m, size.k, false);
  note(size, b, size.k, size.n, false);
  const Number one = 1, beta = starts == at_matrix ? 1 : 0;
  const void* from = starts == at_matrix ? start.data : c.data;
  void* const workspace = begin_product(plan.bytes);
  check_step(
      cublasLtMatmul(library().handle, &plan.operation, &one, b.data, &plan.b, a.data, &plan.a, &beta, from,
                     &plan.start, c.data, &plan.c, &plan.algorithm, workspace,
                     notes_accesses ? plan.bytes : static_cast<std::size_t>(workspace_bytes), stream()),
      product, "a launch");
}

Precision precision = Precision::fp32;

}  // namespace

void prepare_products() {
  Library& it = library();
  if (graph_order() == GraphOrder::chain || it.rooms) return;
  it.rooms = system_block(room_bytes);
  check(it.rooms != nullptr,
        "[cuda] no memory on the GPU for the {} bytes that products beside each other work in", room_bytes);
}

void set_product_precision(Precision wanted) { precision = wanted; }

void gemm(const ProductSize& size, Matrix<const float> a, Matrix<const float> b, Matrix<const float> start,
          Matrix<float> c) {
  multiply(precision == Precision::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, size, a, b,
           start, c);
}
void gemm(const ProductSize& size, Matrix<const double> a, Matrix<const double> b, Matrix<const double> start,
          Matrix<double> c) {
  multiply(CUBLAS_COMPUTE_64F, size, a, b, start, c);
}
void gemm(const ProductSize& size, Matrix<const Bf16> a, Matrix<const Bf16> b, Matrix<const float> start,
          Matrix<float> c) {
  multiply(CUBLAS_COMPUTE_32F, size, a, b, start, c);
}

}  // namespace rondo::cuda

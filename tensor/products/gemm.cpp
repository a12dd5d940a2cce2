// Chooses what computes a product: OpenBLAS, if there is one, or our kernel over packed operands.
#include "tensor/products/gemm.h"

#include <algorithm>
#include <limits>

#include "cuda/products.h"
#include "tensor/kernels/kernels.h"
#include "tensor/pieces.h"
#include "tensor/products/blas.h"
#include "tensor/products/packed_gemm.h"
#include "tensor/products/precision.h"
#include "tensor/profile.h"
#include "tensor/threads.h"

namespace rondo {
namespace {

struct Extents {
  int64_t m, n, k;
};

/// BLAS cannot round operands: then every product is ours.
bool operands_are_rounded() { return multiplication().rounded; }
/// When the product over packed operands (tensor/products/packed_gemm.h) is faster than BLAS, as measured, if
/// b is packed for this product alone; the profile of `make bench` names which of them computed a product.
/// Not for few rows. BLAS is slowest, relatively, at narrow products (half its speed at 50 columns); at wide
/// ones both are equally fast if b must be transposed for packing.
bool packing_pays(const Extents& it, Transpose transpose_b) {
  return operands_are_rounded() || !has_blas() ||
         (it.m >= 256 && it.k >= 128 && (it.n <= 128 || transpose_b == Transpose::no));
}
const char* name_of_packed() { return operands_are_rounded() ? "bf16" : "packed"; }

/// The extents of op(a) op(b), checked to fit c and BLAS.
Extents checked(const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b,
                const Tensor& c) {
  const int64_t m = transpose_a == Transpose::yes ? a.columns() : a.rows();
  const int64_t k = transpose_a == Transpose::yes ? a.rows() : a.columns();
  const int64_t k_of_b = transpose_b == Transpose::yes ? b.columns() : b.rows();
  const int64_t n = transpose_b == Transpose::yes ? b.rows() : b.columns();
  check(k == k_of_b && m == c.rows() && n == c.columns(), "[gemm] {}{} times {}{} does not give {}",
        a.shape(), transpose_a == Transpose::yes ? "^T" : "", b.shape(),
        transpose_b == Transpose::yes ? "^T" : "", c.shape());
  check_one_device("gemm", c, a, b);
  constexpr int64_t most = std::numeric_limits<int>::max();  // BLAS counts in int
  check(std::max({m, n, k, a.row_stride(), b.row_stride(), c.row_stride()}) <= most,
        "[gemm] {} times {}: an extent is beyond {}", a.shape(), b.shape(), most);
  return {m, n, k};
}

/// As BLAS requires it, also of a single row.
int row_stride_of(const Tensor& x) {
  return static_cast<int>(std::max({x.row_stride(), x.columns(), int64_t{1}}));
}

const char* letters(Transpose a, Transpose b) {
  if (a == Transpose::no) return b == Transpose::no ? "NN" : "NT";
  return b == Transpose::no ? "TN" : "TT";
}

constexpr int64_t parallel_work = 1 << 18;  // multiplications that justify waking a second thread

/// By OpenBLAS; each of our threads computes a block of rows or of columns of c.
void blas_gemm(const Extents& it, const Tensor& a, Transpose transpose_a, const Tensor& b,
               Transpose transpose_b, bool add, const Tensor& c) {
  constexpr int64_t granule = 16;  // rows or columns of OpenBLAS's tiles
  const bool by_rows = it.m >= it.n;
  const int64_t extent = by_rows ? it.m : it.n, granules = (extent + granule - 1) / granule;
  const bool worth_it = it.m * it.n * it.k >= parallel_work;
  const int64_t blocks = worth_it ? std::min<int64_t>(threads(), granules) : 1;
  if (!has_memory(c.device())) return;
  take_blas_buffers(static_cast<int>(blocks));
  real* const to = c.mutable_data();
  parallel_for(blocks, worth_it, [&](int64_t block) {
    const int64_t begin = granules * block / blocks * granule;
    const int64_t end = std::min(granules * (block + 1) / blocks * granule, extent);
    const int64_t row = by_rows ? begin : 0, column = by_rows ? 0 : begin;
    const int64_t count = end - begin;
    blas_product(by_rows ? count : it.m, by_rows ? it.n : count, it.k,
                 {a.data() + row * (transpose_a == Transpose::yes ? 1 : a.row_stride()), row_stride_of(a),
                  transpose_a},
                 {b.data() + column * (transpose_b == Transpose::yes ? b.row_stride() : 1), row_stride_of(b),
                  transpose_b},
                 add, {to + row * c.row_stride() + column, row_stride_of(c)});
  });
}

/// Measures a product, under a name made of its extents and what computes it.
Timed timing(const Extents& it, const char* transposes, const char* by) {
  return Timed(
      "gemm", [&] { return fmt::format("{}x{}x{} {} {}", it.m, it.n, it.k, transposes, by); },
      2.0 * static_cast<double>(it.m) * static_cast<double>(it.n) * static_cast<double>(it.k));
}

/// What cuBLASLt multiplies to get c = start + op(a) op(b): if rows end at no multiple of 16 bytes, the pads
/// behind them, too, because its fast kernels load 16 bytes at once. of_a() and of_b() columns of a and b can
/// be read, with zeros behind theirs.
template <class Columns>
Extents with_pads(Extents it, Transpose transpose_a, Transpose transpose_b, const Columns& of_a,
                  const Columns& of_b, const Operand& start, const Tensor& c) {
  const bool in_place = start.data == nullptr || start.data == c.address();  // start has the pads of c
  if (transpose_b == Transpose::no) {
    if (c.has_pads() && in_place) it.n = std::min(of_b(), c.row_stride());
  } else if (transpose_a == Transpose::no) {
    if (const int64_t columns = of_b(); columns > it.k) it.k = std::min(of_a(), columns);
  }
  return it;
}

/// c = start + op(a) op(b), by cuBLASLt, for each of the `count` matrices that lie below each other in a, b,
/// c and start; `start` is like c, or a row with a row stride of 0, or nothing. In bf16 it reads rounded
/// copies of both operands, which are made by a pass before only if nothing has rounded them since they were
/// written.
void gpu_gemm(const Extents& it, const Tensor& a, Transpose transpose_a, const Tensor& b,
              Transpose transpose_b, [[maybe_unused]] Packing packing_of_b, const Operand& start,
              const Tensor& c, int64_t count = 1) {
  if (it.k == 0)  // cuBLASLt refuses it
    return start.data ? launch(c.device(), c.extent(), Copy{start, c.write_operand()}) : fill(c, 0);
  const bool rounded = operands_are_rounded();
  const Timed timed = timing({count * it.m, it.n, it.k}, letters(transpose_a, transpose_b),
                             rounded ? "cuBLASLt, bf16" : "cuBLASLt");
  const auto step = [count](const Tensor& x, int64_t row_stride) {
    return count == 1 ? 0 : x.rows() / count * row_stride;
  };
  const auto multiply = [&](const auto& left, const auto& right, const auto& of_a, const auto& of_b) {
    if (!has_memory(c.device())) return;
    const Extents padded = with_pads(it, transpose_a, transpose_b, of_a, of_b, start, c);
    cuda::gemm({static_cast<int>(padded.m), static_cast<int>(padded.n), static_cast<int>(padded.k),
                static_cast<int>(count)},
               left, right,
               cuda::Matrix<const real>{start.data, static_cast<int>(start.row_stride), false,
                                        step(c, start.row_stride)},
               {c.mutable_data(), row_stride_of(c), false, step(c, c.row_stride())});
  };
#ifndef RONDO_DOUBLE
  if (rounded) {
    const auto matrix = [&](const Tensor& of, const Bf16Rows& x, Transpose transpose) {
      return cuda::Matrix<const cuda::Bf16>{reinterpret_cast<const cuda::Bf16*>(x.data),
                                            static_cast<int>(x.row_stride), transpose == Transpose::yes,
                                            step(of, x.row_stride)};
    };
    const Bf16Rows left = bf16_rows(a, Packing::once), right = bf16_rows(b, packing_of_b);
    const auto padded = [](const Bf16Rows& x) { return [&x] { return x.padded_columns; }; };
    return multiply(matrix(a, left, transpose_a), matrix(b, right, transpose_b), padded(left), padded(right));
  }
#endif
  const auto matrix = [&](const Tensor& x, Transpose transpose) {
    return cuda::Matrix<const real>{x.data(), row_stride_of(x), transpose == Transpose::yes,
                                    step(x, x.row_stride())};
  };
  const auto padded = [](const Tensor& x) { return [&x] { return zero_padded_columns(x); }; };
  multiply(matrix(a, transpose_a), matrix(b, transpose_b), padded(a), padded(b));
}

}  // namespace

void gemm(const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b, bool add,
          const Tensor& c) {
  const Extents it = checked(a, transpose_a, b, transpose_b, c);
  if (it.m == 0 || it.n == 0) return;
  const Operand start = add ? Operand{c.mutable_data(), row_stride_of(c)} : Operand{};
  if (is_gpu(c.device())) return gpu_gemm(it, a, transpose_a, b, transpose_b, Packing::once, start, c);
  const bool ours = packing_pays(it, transpose_b);
  const Timed timed = timing(it, letters(transpose_a, transpose_b), ours ? name_of_packed() : "BLAS");
  if (ours) return packed_gemm(a, transpose_a, b, transpose_b, Packing::once, start, c);
  blas_gemm(it, a, transpose_a, b, transpose_b, add, c);
}

void weight_gemm(const Tensor& x, const Tensor& weight, Transpose transpose, const Tensor& start,
                 const Tensor& c) {
  const Extents extents = checked(x, Transpose::no, weight, transpose, c);
  if (extents.m == 0 || extents.n == 0) return;
  const bool row = start.defined() && start.rows() == 1;
  check(!start.defined() || (start.columns() == c.columns() && (row || start.rows() == c.rows())),
        "[gemm] a start {} does not fit {}", start.shape(), c.shape());
  check_one_device("gemm", c, start);
  check(!start.defined() || start.row_stride() <= std::numeric_limits<int>::max(),
        "[gemm] a start {}: its row stride is too large", start.shape());
  const bool by_rows = start.defined() && !row;
  const auto piece = [&](int64_t begin, int64_t end) {
    weight_gemm(x.slice_rows(begin, end), weight, transpose, by_rows ? start.slice_rows(begin, end) : start,
                c.slice_rows(begin, end));
  };
  if (in_pieces(c.device(), c.rows(), piece)) return;
  const int64_t stride = !start.defined() || (row && c.rows() > 1) ? 0 : row_stride_of(start);
  const Operand from{start.defined() ? start.read_operand().data : nullptr, stride};
  if (is_gpu(c.device()))
    return gpu_gemm(extents, x, Transpose::no, weight, transpose, Packing::kept, from, c);
  const bool fits_int8 = transpose == Transpose::yes && extents.k <= most_int8_terms;
  const Multiplication by = fits_int8 ? multiplication_of_weights() : multiplication();
  const bool in_int8 = by.kernels->word == Word::quad;  // then the weights are not trained
  const Timed timed = timing(extents, letters(Transpose::no, transpose), in_int8 ? "int8" : name_of_packed());
  const Packing packing = in_int8 || extents.m <= max_rows_over_kept_pack ? Packing::kept : Packing::once;
  packed_gemm(x, Transpose::no, weight, transpose, packing, from, c, by);
}

void batched_gemm(const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b, bool add,
                  const Tensor& c) {
  const int64_t N = c.shape()[0];
  for (const Tensor* x : {&a, &b, &c})
    check(x->shape().dimensions() == 3 && x->shape()[0] == N, "[batched_gemm] {} times {} does not give {}",
          a.shape(), b.shape(), c.shape());
  if (c.size() == 0) return;
  const Extents each = checked(a[0], transpose_a, b[0], transpose_b, c[0]);
  const int64_t work = each.m * each.n * each.k;
  if (is_gpu(c.device())) {
    const Operand start = add ? c.write_operand() : Operand{};
    return gpu_gemm(each, a, transpose_a, b, transpose_b, Packing::once, start, c, N);
  }
  if (work >= parallel_work) {  // all threads compute each
    for (int64_t i = 0; i < N; ++i) gemm(a[i], transpose_a, b[i], transpose_b, add, c[i]);
    return;
  }
  const bool ours = operands_are_rounded() || !has_blas();
  const Timed timed = timing({N * each.m, each.n, each.k}, letters(transpose_a, transpose_b),
                             !ours                    ? "batched BLAS"
                             : operands_are_rounded() ? "batched bf16"
                                                      : "batched packed");
  if (ours) return packed_batched_gemm(a, transpose_a, b, transpose_b, add, c);
  if (!has_memory(c.device())) return;
  const auto step = [](const Tensor& x) { return x.shape()[1] * x.row_stride(); };  // from matrix to matrix
  real* const to = c.mutable_data();
  parallel_for(N, N * work >= parallel_work, [&](int64_t i) {
    blas_product(each.m, each.n, each.k, {a.data() + i * step(a), row_stride_of(a), transpose_a},
                 {b.data() + i * step(b), row_stride_of(b), transpose_b}, add,
                 {to + i * step(c), row_stride_of(c)});
  });
}

}  // namespace rondo

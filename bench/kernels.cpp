// Peaks, the functions of the gates, and the products of recurrent weights. Packed and BLAS take turns, so
// that both run under the same conditions.
#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "bench/machine.h"
#include "bench/tables.h"
#include "lm/program/compute.h"
#include "tensor/keys.h"
#include "tensor/products/gemm.h"
#include "tensor/products/packed_gemm.h"
#include "tensor/products/precision.h"
#include "tensor/random.h"
#include "tensor/simd/vec.h"
#include "tensor/threads.h"

namespace rondo {
namespace {

template <class Function>
double nanoseconds_an_element(Function function) {
  constexpr int elements = 2048, passes = 4000;
  std::vector<real> x(elements), y(elements);
  for (int i = 0; i < elements; ++i) x[i] = real(8) * (real(2) * static_cast<real>(i) / elements - 1);
  std::vector<double> seconds;
  for (int turn = 0; turn < 7; ++turn) {
    const auto start = Clock::now();
    for (int pass = 0; pass < passes; ++pass) {
      for (int i = 0; i < elements; i += Vec::size) function(Vec::load(&x[i])).store(&y[i]);
      asm volatile("" : : "r"(y.data()) : "memory");  // the compiler must not drop a pass
    }
    seconds.push_back(seconds_since(start));
  }
  return median(seconds) / passes / elements * 1e9;
}

constexpr double seconds_a_turn = 0.008;
/// OpenMP's threads spin for milliseconds after a product of BLAS, on the core that our thread needs then.
constexpr double seconds_of_spinning = 0.02;

Tensor random(int64_t rows, int64_t columns, uint64_t seed) {
  const Tensor x({rows, columns});
  fill_uniform(x, {.seed = seed}, real(-0.1), real(0.1));
  return x;
}

template <class Product>
double seconds_of(const Product& product) {
  product();  // packs the weight, and warms the cache
  return seconds_a_call(product, seconds_a_turn);
}

/// c += x op(W) by BLAS, whatever gemm() would choose.
void by_blas(const Tensor& x, const Tensor& W, Transpose transpose, const Tensor& c) {
  const auto stride = [](const Tensor& it) { return static_cast<int>(it.row_stride()); };
  cblas_sgemm(CblasRowMajor, CblasNoTrans, transpose == Transpose::yes ? CblasTrans : CblasNoTrans,
              static_cast<int>(c.rows()), static_cast<int>(c.columns()), static_cast<int>(x.columns()), 1,
              x.data(), stride(x), W.data(), stride(W), 1, c.mutable_data(), stride(c));
}

/// Seconds of a product, turn by turn.
struct Times {
  std::vector<double> packed, bf16, blas;
};

/// c += x op(W), where W is [4H, H], as in the cells; forward x [rows, H] W^T, backward x [rows, 4H] W.
Times measure(int64_t H, int64_t rows, bool forward) {
  const Transpose as_it_lies = forward ? Transpose::yes : Transpose::no;
  const Transpose other = forward ? Transpose::no : Transpose::yes;
  const Tensor W = random(4 * H, H, 1), transposed = random(H, 4 * H, 2);
  const Tensor x = random(rows, forward ? H : 4 * H, 3), c = random(rows, forward ? 4 * H : H, 4);
  const auto by_packed = [&] {
    packed_gemm(x, Transpose::no, W, as_it_lies, Packing::kept, c.read_operand(), c);
  };
  Times times;
  for (int turn = 0; turn < 5; ++turn) {
    seconds_a_call(by_packed, seconds_of_spinning);
    times.packed.push_back(seconds_of(by_packed));
    {
      const WithPrecision rounded(Precision::bf16);
      times.bf16.push_back(seconds_of(by_packed));
    }
    times.blas.push_back(std::min(seconds_of([&] { by_blas(x, W, as_it_lies, c); }),
                                  seconds_of([&] { by_blas(x, transposed, other, c); })));
  }
  return times;
}

}  // namespace

void print_peaks(int threads) {
  for (const Precision precision : {Precision::fp32, Precision::bf16}) {
    const WithPrecision in(precision);
    const Multiplication by = multiplication();
    fmt::print("  peak in {} by {}: {:.0f} GFLOP/s with one thread, {:.0f} with {}\n", name_of(precision),
               name_of(by), measured_peak(*by.kernels, 1), measured_peak(*by.kernels, threads), threads);
  }
  fmt::print("  exp {:.2f}, tanh {:.2f}, sigmoid {:.2f} ns an element with one thread\n",
             nanoseconds_an_element([](Vec x) { return exp(x); }),
             nanoseconds_an_element([](Vec x) { return tanh(x); }),
             nanoseconds_an_element([](Vec x) { return sigmoid(x); }));
}

void print_products() {
  openblas_set_num_threads(threads());  // it would take all that the process may have
  fmt::print(
      "\nA step's product with a recurrent weight [4H, H], GFLOP/s: over a packed copy that is kept, and by "
      "BLAS, the weight transposed or not, whichever is faster; median ratio of 5 turns; the packed product "
      "in bf16, and its ratio to fp32\n");
  const Table table(
      {"H, rows", "forward", "BLAS", "ratio", "bf16", "ratio", "backward", "BLAS", "ratio", "bf16", "ratio"},
      9);
  std::map<int64_t, std::array<std::vector<double>, 4>> by_rows;
  for (const int64_t H : {650, 700, 1024, 1150, 1500}) {
    for (const int64_t rows : {1, 20, 32, 64, 80, 128, 256, 512}) {
      std::vector<std::string> row{fmt::format("{:>4} {:>4}", H, rows)};
      const auto gflops = [&](const std::vector<double>& seconds) {
        return digits(8e-9 * static_cast<double>(rows * H * H) / median(seconds), 1);
      };
      for (const bool forward : {true, false}) {
        const Times it = measure(H, rows, forward);
        const double to_blas = median(ratios(it.blas, it.packed)),
                     to_fp32 = median(ratios(it.packed, it.bf16));
        for (const std::string& cell : {gflops(it.packed), gflops(it.blas), digits(to_blas, 2) + "x",
                                        gflops(it.bf16), digits(to_fp32, 2) + "x"})
          row.push_back(cell);
        by_rows[rows][forward ? 0 : 2].push_back(to_blas);
        by_rows[rows][forward ? 1 : 3].push_back(to_fp32);
      }
      table.add(row);
    }
  }
  openblas_set_num_threads(1);
  for (const auto& [rows, it] : by_rows)
    fmt::print("  median over H, {:>3} rows: forward {:.2f}x, bf16 {:.2f}x; backward {:.2f}x, bf16 {:.2f}x\n",
               rows, median(it[0]), median(it[1]), median(it[2]), median(it[3]));
}

}  // namespace rondo

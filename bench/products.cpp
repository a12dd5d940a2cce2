// The products of recurrent weights. Packed and BLAS take turns, so that both run under the same conditions.
#include "bench/products.h"

#include <cblas.h>
#include <fmt/format.h>

#include <array>
#include <map>

#include "bench/machine.h"
#include "tensor/products/gemm.h"
#include "tensor/products/packed_gemm.h"
#include "tensor/products/precision.h"
#include "tensor/random.h"
#include "tensor/threads.h"

namespace rondo {
namespace {

constexpr int turns = 5;
constexpr double seconds_per_turn = 0.008;
/// OpenMP's threads spin for milliseconds after a product of BLAS, on the core that our thread needs then.
constexpr double seconds_of_spinning = 0.02;

Tensor random(int64_t rows, int64_t columns, uint64_t seed) {
  const Tensor x({rows, columns});
  fill_uniform(x, {.seed = seed}, real(-0.1), real(0.1));
  return x;
}

template <class Product>
double seconds_a_call(const Product& product) {
  product();  // packs the weight, and warms the cache
  int64_t calls = 0;
  const double start = now();
  double end = start;
  for (; end - start < seconds_per_turn; end = now(), ++calls) product();
  return (end - start) / static_cast<double>(calls);
}

struct Speeds {
  double packed, blas, ratio;  // GFLOP/s, and the median ratio of the turns
  double bf16, bf16_ratio;     // in bf16, and its ratio to the packed product in fp32
};

/// c += x op(W) by BLAS, whatever gemm() would choose.
void by_blas(const Tensor& x, const Tensor& W, Transpose transpose, const Tensor& c) {
  const auto stride = [](const Tensor& it) { return static_cast<int>(it.row_stride()); };
  cblas_sgemm(CblasRowMajor, CblasNoTrans, transpose == Transpose::yes ? CblasTrans : CblasNoTrans,
              static_cast<int>(c.rows()), static_cast<int>(c.columns()), static_cast<int>(x.columns()), 1,
              x.data(), stride(x), W.data(), stride(W), 1, c.mutable_data(), stride(c));
}

/// c += x op(W), where W is [4H, H], as in the cells; forward x [rows, H] W^T, backward x [rows, 4H] W.
Speeds measure(int64_t H, int64_t rows, bool forward) {
  const Transpose as_it_lies = forward ? Transpose::yes : Transpose::no;
  const Transpose other = forward ? Transpose::no : Transpose::yes;
  const Tensor W = random(4 * H, H, 1), transposed = random(H, 4 * H, 2);
  const Tensor x = random(rows, forward ? H : 4 * H, 3), c = random(rows, forward ? 4 * H : H, 4);
  const auto by_packed = [&] {
    packed_gemm(x, Transpose::no, W, as_it_lies, Packing::kept, c.read_operand(), c);
  };
  std::vector<double> packed, bf16, blas, ratio, bf16_ratio;
  for (int turn = 0; turn < turns; ++turn) {
    for (const double begin = now(); now() - begin < seconds_of_spinning;) by_packed();
    packed.push_back(seconds_a_call(by_packed));
    {
      const WithPrecision rounded(Precision::bf16);
      bf16.push_back(seconds_a_call(by_packed));
    }
    blas.push_back(std::min(seconds_a_call([&] { by_blas(x, W, as_it_lies, c); }),
                            seconds_a_call([&] { by_blas(x, transposed, other, c); })));
    ratio.push_back(blas.back() / packed.back());
    bf16_ratio.push_back(packed.back() / bf16.back());
  }
  const double operations = 8.0 * static_cast<double>(rows * H * H);
  return {operations / median(packed) / 1e9, operations / median(blas) / 1e9, median(ratio),
          operations / median(bf16) / 1e9, median(bf16_ratio)};
}

}  // namespace

void print_products() {
  openblas_set_num_threads(threads());  // it would take all that the process may have
  fmt::print(
      "\nA step's product with a recurrent weight [4H, H], GFLOP/s: over a packed copy that is kept, and by "
      "BLAS, the weight transposed or not, whichever is faster; median ratio of {} turns; "
      "the packed product in bf16, and its ratio to fp32\n"
      "     H  rows   forward    BLAS  ratio    bf16  ratio   backward    BLAS  ratio    bf16  ratio\n",
      turns);
  struct Ratios {
    std::vector<double> to_blas, of_bf16;
  };
  std::map<int64_t, std::array<Ratios, 2>> ratios;  // by rows: forward, backward
  int64_t busy = 0;
  for (const int64_t H : {650, 700, 1024, 1150, 1500}) {
    busy += !wait_for_idle_machine();
    for (const int64_t rows : {1, 20, 32, 64, 80, 128, 256, 512}) {
      fmt::print("  {:>4}  {:>4}", H, rows);
      for (const bool forward : {true, false}) {
        const Speeds it = measure(H, rows, forward);
        fmt::print("    {:6.1f}  {:6.1f}  {:4.2f}x  {:6.1f}  {:4.2f}x", it.packed, it.blas, it.ratio, it.bf16,
                   it.bf16_ratio);
        Ratios& kept = ratios[rows][forward ? 0 : 1];
        kept.to_blas.push_back(it.ratio);
        kept.of_bf16.push_back(it.bf16_ratio);
      }
      fmt::print("\n");
      std::fflush(stdout);
    }
  }
  openblas_set_num_threads(1);
  if (busy > 0) fmt::print("  The machine was not idle at {} of 5 widths.\n", busy);
  for (const auto& [rows, both] : ratios)
    fmt::print("  median over H, {:>3} rows: forward {:.2f}x, bf16 {:.2f}x; backward {:.2f}x, bf16 {:.2f}x\n",
               rows, median(both[0].to_blas), median(both[0].of_bf16), median(both[1].to_blas),
               median(both[1].of_bf16));
}

}  // namespace rondo

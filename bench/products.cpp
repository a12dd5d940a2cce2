// The products of recurrent weights. Packed and BLAS take turns, so that both run under the same conditions.
#include "bench/products.h"

#include <cblas.h>
#include <fmt/format.h>

#include <array>
#include <map>

#include "bench/machine.h"
#include "tensor/gemm.h"
#include "tensor/packed_gemm.h"
#include "tensor/profile.h"
#include "tensor/random.h"

namespace rondo {
namespace {

constexpr int turns = 5;
constexpr double seconds_per_turn = 0.008;

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
  std::string taken;           // what weight_gemm() chooses
};

/// c += x op(W) by BLAS, whatever gemm() would choose.
void by_blas(const Tensor& x, const Tensor& W, Transpose transpose, const Tensor& c) {
  const auto stride = [](const Tensor& it) { return static_cast<int>(it.row_stride()); };
  cblas_sgemm(CblasRowMajor, CblasNoTrans, transpose == Transpose::yes ? CblasTrans : CblasNoTrans,
              static_cast<int>(c.rows()), static_cast<int>(c.columns()), static_cast<int>(x.columns()), 1,
              x.data(), stride(x), W.data(), stride(W), 1, c.mutable_data(), stride(c));
}

std::string taken(const Tensor& x, const Tensor& W, Transpose transpose, const Tensor& c) {
  set_profiling(true);
  weight_gemm(x, W, transpose, c, c);
  const std::string name = profile().front().name;
  set_profiling(false);
  return name.substr(name.rfind(' ') + 1);
}

/// c += x op(W), where W is [4H, H], as in the cells; forward x [rows, H] W^T, backward x [rows, 4H] W.
Speeds measure(int64_t H, int64_t rows, bool forward) {
  const Transpose as_it_lies = forward ? Transpose::yes : Transpose::no;
  const Transpose other = forward ? Transpose::no : Transpose::yes;
  const Tensor W = random(4 * H, H, 1), transposed = random(H, 4 * H, 2);
  const Tensor x = random(rows, forward ? H : 4 * H, 3), c = random(rows, forward ? 4 * H : H, 4);
  std::vector<double> packed, blas, ratio;
  for (int turn = 0; turn < turns; ++turn) {
    packed.push_back(seconds_a_call(
        [&] { packed_gemm(x, Transpose::no, W, as_it_lies, Packing::kept, c.read_operand(), c); }));
    blas.push_back(std::min(seconds_a_call([&] { by_blas(x, W, as_it_lies, c); }),
                            seconds_a_call([&] { by_blas(x, transposed, other, c); })));
    ratio.push_back(blas.back() / packed.back());
  }
  const double operations = 8.0 * static_cast<double>(rows * H * H);
  return {operations / median(packed) / 1e9, operations / median(blas) / 1e9, median(ratio),
          taken(x, W, as_it_lies, c)};
}

}  // namespace

void print_products() {
  fmt::print(
      "\nA step's product with a recurrent weight [4H, H], GFLOP/s: over a packed copy that is kept, and by "
      "BLAS, the weight transposed or not, whichever is faster; median ratio of {} turns; which lm takes\n"
      "     H  rows   forward  BLAS   ratio  taken    backward  BLAS   ratio  taken\n",
      turns);
  std::map<int64_t, std::array<std::vector<double>, 2>> ratios;  // by rows: forward, backward
  int64_t busy = 0;
  for (const int64_t H : {650, 700, 1024, 1150, 1500}) {
    busy += !wait_for_idle_machine();
    for (const int64_t rows : {1, 20, 32, 64, 80, 128, 256, 512}) {
      const Speeds forward = measure(H, rows, true), backward = measure(H, rows, false);
      fmt::print("  {:>4}  {:>4}", H, rows);
      for (const Speeds& it : {forward, backward})
        fmt::print("    {:6.1f}  {:6.1f}  {:4.2f}x  {:<6}", it.packed, it.blas, it.ratio, it.taken);
      fmt::print("\n");
      std::fflush(stdout);
      ratios[rows][0].push_back(forward.ratio);
      ratios[rows][1].push_back(backward.ratio);
    }
  }
  if (busy > 0) fmt::print("  The machine was not idle at {} of 5 widths.\n", busy);
  for (const auto& [rows, both] : ratios)
    fmt::print("  median over H, {:>3} rows: forward {:.2f}x, backward {:.2f}x\n", rows, median(both[0]),
               median(both[1]));
}

}  // namespace rondo

// Which instructions compute products: chosen by the CPU's flags and, for bf16, by a measurement.
#include "tensor/precision.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "tensor/clock.h"

namespace rondo {
namespace {

const TileKernels& kernels_of_numbers() {
#ifdef RONDO_X86_KERNELS
  static const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  if (avx512) return kernels_of_avx512;
#endif
  return kernels_as_compiled;
}

struct FastestBf16 {
  Multiplication multiplication;
  double speedup;
};
const FastestBf16& fastest_bf16() {
  static const FastestBf16 fastest = [] {
    const double fp32 = speed_of_tiles(kernels_of_numbers());
    FastestBf16 it{{&kernels_of_numbers(), true}, 1};
    for (const Multiplication& candidate : multiplications_of_bf16())
      if (const double speedup = speed_of_tiles(*candidate.kernels) / fp32;
          candidate.kernels->word == Word::pair && speedup > it.speedup)
        it = {candidate, speedup};
    return it;
  }();
  return fastest;
}

Precision set = Precision::fp32;
Multiplication chosen = {nullptr, false};

}  // namespace

void set_precision(Precision precision) {
  set = precision;
  cuda::set_product_precision(precision);
  chosen = {};
}
Precision precision() { return set; }

const Multiplication& multiplication() {
  if (!chosen.kernels) {
#ifndef RONDO_DOUBLE
    if (set == Precision::bf16)
      chosen = fastest_bf16().multiplication;
    else
#endif
      chosen = {&kernels_of_numbers(), false};
  }
  return chosen;
}

std::vector<Multiplication> multiplications_of_bf16() {
  std::vector<Multiplication> all;
#ifdef RONDO_X86_KERNELS
  if (__builtin_cpu_supports("avx512bf16")) all.push_back({&kernels_of_avx512_bf16, true});
#endif
  if (&kernels_of_numbers() != &kernels_as_compiled) all.push_back({&kernels_of_numbers(), true});
  all.push_back({&kernels_as_compiled, true});
  return all;
}

void multiply_by(const Multiplication& wanted) { chosen = wanted; }

std::string name_of(const Multiplication& it) {
  const bool in_floats = it.rounded && it.kernels->word == Word::number;
  return fmt::format("{}{}", it.kernels->name, in_floats ? ", rounded to bf16" : "");
}

const Multiplication& fastest_multiplication_of_bf16() { return fastest_bf16().multiplication; }
double speed_of_tiles(const TileKernels& kernels) {
  constexpr int64_t terms = 384;
  const int64_t words = kernels.words(terms), width = kernels.width();
  const std::vector<real> a(static_cast<size_t>(kernels.rows * words)),
      panel(static_cast<size_t>(words * width + 64 * width));
  std::vector<real> c(static_cast<size_t>(kernels.rows * width));
  const Tile tile{words, width, a.data(), words, panel.data(), {}, {c.data(), width}};
  const RunTile run = kernels.kernel(kernels.rows, width, false);
  double least = std::numeric_limits<double>::infinity();
  for (int round = 0; round < 20; ++round) {
    constexpr int tiles = 4;
    const auto start = Clock::now();
    for (int i = 0; i < tiles; ++i) run(tile);
    least = std::min(least, seconds_since(start) / tiles);
  }
  return 2.0 * static_cast<double>(kernels.rows * width * terms) / least;
}

double speedup_of_bf16() { return fastest_bf16().speedup; }

}  // namespace rondo

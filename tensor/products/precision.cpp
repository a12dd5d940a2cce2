// Which instructions compute products: chosen by the CPU's flags and, for bf16, by a measurement.
#include "tensor/products/precision.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "cuda/products.h"
#include "tensor/products/cpu_features.h"
#include "tensor/profile.h"

namespace rondo {
namespace {

/// Kernels that multiply numbers, of which this CPU has the instructions; the fastest first.
std::vector<const TileKernels*> kernels_of_numbers() {
  std::vector<const TileKernels*> all;
#ifdef RONDO_X86_KERNELS
  if (cpu_has_avx512()) all.push_back(&kernels_of_avx512);
  if (cpu_has_avx2()) all.push_back(&kernels_of_avx2);
#endif
  all.push_back(&kernels_as_compiled);
  return all;
}
const TileKernels& fastest_of_numbers() { return *kernels_of_numbers().front(); }

/// The same of pairs of bf16. The library for inference alone has none: a C program has no choice of
/// precision.
std::vector<const TileKernels*> kernels_of_pairs() {
  std::vector<const TileKernels*> all;
#if defined(RONDO_X86_KERNELS) && !defined(RONDO_INFERENCE_ALONE)
  if (cpu_has_avx512_bf16()) all.push_back(&kernels_of_avx512_bf16);
#endif
#ifdef RONDO_AMX_KERNELS
  static const bool granted = cpu_has_amx_bf16() && system_grants_amx();
  if (granted) all.push_back(&kernels_of_amx);
#endif
  return all;
}

/// A tile of full size, whose operands are in the L1 or the L2 cache, to measure kernels with.
class SampleTile {
 public:
  explicit SampleTile(const TileKernels& kernels)
      : kernels_(kernels),
        words_(kernels.words(terms)),
        a_(static_cast<size_t>(kernels.rows * words_)),
        panel_(static_cast<size_t>((words_ + read_ahead) * kernels.width)),
        c_(static_cast<size_t>(kernels.rows * kernels.width)) {}

  /// Of one multiplication.
  double seconds() {
    constexpr int repetitions = 4;
    const Tile tile{.rows = kernels_.rows,
                    .columns = kernels_.width,
                    .words = words_,
                    .a = a_.data(),
                    .a_stride = words_,
                    .transposed = false,
                    .panel = panel_.data(),
                    .start = {},
                    .c = {c_.data(), kernels_.width},
                    .next_c = c_.data(),
                    .ahead = panel_.data(),
                    .ahead_step = 0};
    const auto start = Clock::now();
    for (int i = 0; i < repetitions; ++i) kernels_.run(tile);
    kernels_.release();
    return seconds_since(start) / static_cast<double>(repetitions * kernels_.rows * kernels_.width * terms);
  }

 private:
  static constexpr int64_t terms = 384, read_ahead = 64;
  const TileKernels& kernels_;
  int64_t words_;
  std::vector<real> a_, panel_, c_;
};

/// The kernels take turns, so that a change of the CPU's clock meets both.
double speedup_over_numbers(const TileKernels& kernels) {
  SampleTile numbers(fastest_of_numbers()), those(kernels);
  double of_numbers = std::numeric_limits<double>::infinity(), of_those = of_numbers;
  for (int turn = 0; turn < 20; ++turn) {
    of_numbers = std::min(of_numbers, numbers.seconds());
    of_those = std::min(of_those, those.seconds());
  }
  return of_numbers / of_those;
}

}  // namespace

const FastestBf16& fastest_bf16() {
  static const FastestBf16 fastest = [] {
    constexpr double pays = 1.1;  // below, packing in pairs may cost what the instruction saves
    FastestBf16 it{{&fastest_of_numbers(), true}, 1};
    for (const TileKernels* kernels : kernels_of_pairs())
      if (const double speedup = speedup_over_numbers(*kernels); speedup > std::max(pays, it.speedup))
        it = {{kernels, true}, speedup};
    return it;
  }();
  return fastest;
}

namespace {

struct Choice {
  Precision precision = Precision::fp32;
  Multiplication multiplication = multiplication_of_fp32();
};
Choice& choice() {
  static Choice it;
  return it;
}

}  // namespace

void set_precision(Precision precision) {
#ifdef RONDO_DOUBLE
  const bool rounded = false;
#else
  const bool rounded = precision == Precision::bf16;
#endif
  choice() = {precision, rounded ? fastest_bf16().multiplication : multiplication_of_fp32()};
  cuda::set_product_precision(precision);
}
Precision precision() { return choice().precision; }

const PairKernels* pair_kernels() {
#if defined(RONDO_X86_KERNELS) && !defined(RONDO_INFERENCE_ALONE)
  static const bool has_instruction = cpu_has_avx512_bf16();
  if (has_instruction) return &pair_kernels_of_avx512_bf16;
#endif
  return nullptr;
}

Multiplication multiplication() { return choice().multiplication; }
Multiplication multiplication_of_weights() {
  static const std::vector<Multiplication> of_int8 = multiplications_of_int8();
  return precision() == Precision::int8 && !of_int8.empty() ? of_int8.front() : multiplication();
}
void multiply_by(const Multiplication& wanted) { choice().multiplication = wanted; }

Multiplication multiplication_of_fp32() { return {&fastest_of_numbers(), false}; }
std::vector<Multiplication> multiplications_of_bf16() {
  std::vector<Multiplication> all;
  for (const TileKernels* kernels : kernels_of_pairs()) all.push_back({kernels, true});
  for (const TileKernels* kernels : kernels_of_numbers()) all.push_back({kernels, true});
  return all;
}

std::vector<Multiplication> multiplications_of_int8() {
  std::vector<Multiplication> all;
#if defined(RONDO_X86_KERNELS) && !defined(RONDO_INFERENCE_ALONE)
  if (cpu_has_avx512_vnni()) all.push_back({&kernels_of_int8_vnni, false});
  if (cpu_has_avx2()) all.push_back({&kernels_of_int8_avx2, false});
#endif
#if !defined(RONDO_DOUBLE) && !defined(RONDO_INFERENCE_ALONE)
  all.push_back({&kernels_of_int8, false});
#endif
  return all;
}

std::string name_of(const Multiplication& it) {
  const bool in_floats = it.rounded && it.kernels->word == Word::number;
  return fmt::format("{}{}", it.kernels->name, in_floats ? ", rounded to bf16" : "");
}

}  // namespace rondo

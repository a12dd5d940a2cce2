// Steps of a language model at batch 1, and the memory's bandwidth in turn with them.
#include "bench/generation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "bench/machine.h"
#include "bench/worker.h"
#include "lm/program/compute.h"
#include "lm/program/recipe.h"
#include "nn/models/language_model.h"
#include "tensor/keys.h"
#include "tensor/products/precision.h"
#include "tensor/threads.h"
#include "tests/lm/training/training.h"

namespace rondo {
namespace {

/// Reads numbers that no cache can hold, in the memory that weights are in.
class MemoryReader {
 public:
  MemoryReader() { fill(numbers_, 1); }

  /// Bytes per second.
  double bandwidth() {
    const int parts = threads();
    std::vector<uint32_t> sums(static_cast<size_t>(parts));
    const double start = now();
    parallel_for(parts, true, [&](int64_t part) {
      const real* const from = numbers_.data();
      uint32_t sum = 0;
      for (int64_t i = count * part / parts; i < count * (part + 1) / parts; ++i)
        sum ^= std::bit_cast<uint32_t>(from[i]);
      sums[static_cast<size_t>(part)] = sum;
    });
    const double seconds = now() - start;
    asm volatile("" : : "r"(sums.data()) : "memory");  // the compiler must not drop the loop
    return static_cast<double>(count * static_cast<int64_t>(sizeof(real))) / seconds;
  }

 private:
  static constexpr int64_t count = int64_t{1} << 27;  // 512 MiB
  const Tensor numbers_ = Tensor({count});
};

/// Reads the symbol that it found most probable, again and again.
class Generator {
 public:
  explicit Generator(const Recipe& recipe)
      : model_(model_options(recipe.language_model()), vocabulary_size(recipe), 1),
        states_(model_.initial_states(1)) {
    model_.set_training(false);
  }
  int64_t parameters() const { return model_.parameter_count(); }

  void step() {
    const NoGradient no_history;
    const auto [output, next] = model_.forward({tokens({symbol_}), 1, 1}, states_);
    const std::vector<real> scores = model_.logits(output).value().to_vector();
    symbol_ = static_cast<int32_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
    states_ = next;
  }

 private:
  LanguageModel model_;
  std::vector<State> states_;
  int32_t symbol_ = 0;
};

double steps_a_second(Generator& generator, double seconds) {
  int64_t steps = 0;
  const double start = now();
  double end = start;
  for (; end - start < seconds; end = now(), ++steps) generator.step();
  return static_cast<double>(steps) / (end - start);
}

}  // namespace

void print_generation(int rounds, double seconds) {
  Generator generator(load_recipe(RONDO_SOURCE_DIR "/bench/awd-lstm-b20.toml"));
  MemoryReader memory;
  fmt::print(
      "\ngeneration at batch 1: AWD-LSTM, {:.2f}M parameters, {} threads; the share of the bandwidth of "
      "a loop that only reads, round by round\n",
      1e-6 * static_cast<double>(generator.parameters()), threads());
  for (const Precision precision : {Precision::fp32, Precision::bf16}) {
    const WithPrecision in(precision);
    const double bytes_a_parameter = 4.0 / static_cast<double>(multiplication().kernels->terms_of_word());
    generator.step();  // packs the weights
    std::vector<double> speeds, rates, shares;
    for (int round = 0; round < rounds; ++round) {
      wait_for_idle_machine();
      const double bandwidth = memory.bandwidth();
      speeds.push_back(steps_a_second(generator, seconds));
      rates.push_back(speeds.back() * bytes_a_parameter * static_cast<double>(generator.parameters()));
      shares.push_back(100 * rates.back() / bandwidth);
    }
    fmt::print("  {}  {:>6.0f} symbols/s  {:>5.1f} GB/s of weights  {:.0f}% of the memory's ({:.0f}%)\n",
               name_of(precision), median(speeds), median(rates) / 1e9, median(shares),
               fmt::join(shares, " "));
    std::fflush(stdout);
  }
}

}  // namespace rondo

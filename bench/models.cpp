// Models in this process, in turns: an adaptive softmax beside the full one, and generation.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>

#include "autograd/functions.h"
#include "bench/machine.h"
#include "bench/tables.h"
#include "bench/worker.h"
#include "lm/program/compute.h"
#include "tensor/threads.h"
#include "tests/lm/training/training.h"

namespace rondo {
namespace {

constexpr int64_t vocabulary = 267'735, width = 1024, streams = 20, steps = 35, rows = streams * steps;

/// Symbols of Zipf's law, p(r) ~ 1 / r for r = 1 to V, which is the symbol r - 1.
std::vector<int32_t> zipf_symbols(size_t count) {
  std::vector<double> sums;
  double sum = 0;
  for (int64_t r = 1; r <= vocabulary; ++r) sums.push_back(sum += 1 / static_cast<double>(r));
  std::mt19937 random(1);
  std::vector<int32_t> ids(count);
  std::generate(ids.begin(), ids.end(), [&] {
    const double x = sum * std::ldexp(static_cast<double>(random()), -32);
    return static_cast<int32_t>(std::upper_bound(sums.begin(), sums.end() - 1, x) - sums.begin());
  });
  return ids;
}

Recipe recipe_of(OutputKind output) {
  Recipe recipe = load_recipe("zaremba-small");
  LanguageModelOptions& model = recipe.language_model().model;
  model.layers = 1;
  model.embedding = 256;
  model.hidden = {width};
  model.output = output;
  recipe.language_model().train.batches.batch = streams;
  recipe.language_model().train.batches.chunks.length = steps;
  return recipe;
}

/// A model in training, and what its output layer reads.
class Trained {
 public:
  Trained(OutputKind output, std::span<const int32_t> ids)
      : training_(recipe_of(output), vocabulary, ids), targets_(tokens({ids.begin(), ids.begin() + rows})) {
    fill_uniform(features_, {.seed = 2}, real(-0.5), real(0.5));
  }

  void output_layer() {
    const Variable features = Variable::leaf(features_, gradient_);
    training_.model.cross_entropy({features, {}, {}}, targets_).total.backward();
  }
  void step() { train_a_step(training_.trainer, Device::cpu); }

 private:
  Training training_;
  const Tokens targets_;
  const Tensor features_ = Tensor({rows, width}), gradient_ = Tensor::zeros({rows, width});
};

/// Reads numbers that no cache can hold, in the memory that weights are in: bytes per second.
double bandwidth(const Tensor& numbers) {
  const int parts = threads();
  const int64_t count = numbers.size();
  std::vector<uint32_t> sums(static_cast<size_t>(parts));
  const auto start = Clock::now();
  parallel_for(parts, true, [&](int64_t part) {
    uint32_t sum = 0;
    for (int64_t i = count * part / parts; i < count * (part + 1) / parts; ++i)
      sum ^= std::bit_cast<uint32_t>(numbers.data()[i]);
    sums[static_cast<size_t>(part)] = sum;
  });
  const double seconds = seconds_since(start);
  asm volatile("" : : "r"(sums.data()) : "memory");  // the compiler must not drop the loop
  return static_cast<double>(count * static_cast<int64_t>(sizeof(real))) / seconds;
}

}  // namespace

void print_adaptive(int rounds, double seconds) {
  const std::vector<int32_t> ids = zipf_symbols(static_cast<size_t>(50 * rows + 1));
  Trained full(OutputKind::softmax, ids), adaptive(OutputKind::adaptive, ids);
  fmt::print(
      "\nadaptive softmax: V {}, LSTM and its output {} wide, B {}, T {}, symbols of Zipf's law, {} "
      "threads\n",
      vocabulary, width, streams, steps, threads());
  const Table table({"milliseconds", "full", "adaptive", "times as fast: median, rounds"}, 24);
  const auto compare = [&](const char* name, void (Trained::*work)()) {
    std::vector<double> of_full, of_adaptive;
    for (Trained* it : {&full, &adaptive}) (it->*work)();  // allocates, and packs weights
    for (int round = 0; round < rounds; ++round) {
      of_full.push_back(1e3 * seconds_a_call([&] { (full.*work)(); }, seconds));
      of_adaptive.push_back(1e3 * seconds_a_call([&] { (adaptive.*work)(); }, seconds));
    }
    table.add({name, digits(median(of_full)), digits(median(of_adaptive)),
               times_of_rounds(ratios(of_full, of_adaptive))});
  };
  compare("the output layer alone", &Trained::output_layer);
  compare("a training step", &Trained::step);
}

void print_generation(int rounds, double seconds) {
  const Recipe recipe = load_recipe(RONDO_SOURCE_DIR "/bench/awd-lstm-b20.toml");
  LanguageModel model(model_options(recipe.language_model()), vocabulary_size(recipe), 1);
  model.set_training(false);
  std::vector<State> states = model.initial_states(1);
  int32_t symbol = 0;
  const auto step = [&] {  // reads the symbol that it found most probable
    const NoGradient no_history;
    const auto [output, next] = model.forward({tokens({symbol}), 1, 1}, states);
    const std::vector<real> scores = model.logits(output).value().to_vector();
    symbol = static_cast<int32_t>(std::ranges::max_element(scores) - scores.begin());
    states = next;
  };
  const auto parameters = static_cast<double>(model.parameter_count());
  const Tensor numbers = Tensor::filled({int64_t{1} << 27}, 1);  // 512 MiB
  fmt::print("\ngeneration at batch 1: AWD-LSTM, {:.2f}M parameters, {} threads\n", 1e-6 * parameters,
             threads());
  struct Measured {
    Precision precision;
    double bytes = 0;
    std::vector<double> speeds{}, rates{};
  };
  std::vector<Measured> all = {{Precision::fp32}, {Precision::bf16}, {Precision::int8}};
  std::vector<double> bandwidths;
  for (int round = 0; round < rounds; ++round) {
    bandwidths.push_back(bandwidth(numbers));
    for (Measured& it : all) {
      const WithPrecision in(it.precision);
      it.bytes = parameters * 4 / static_cast<double>(multiplication_of_weights().kernels->terms_of_word());
      step();  // packs the weights
      it.speeds.push_back(1 / seconds_a_call(step, seconds));
      it.rates.push_back(it.speeds.back() * it.bytes);
    }
  }
  const Table table({"", "symbols/s", "relative to bf16: median, rounds", "GB/s of weights",
                     "share of the bandwidth of a loop that only reads: median, rounds"},
                    6);
  for (const Measured& it : all)
    table.add({name_of(it.precision), digits(median(it.speeds)),
               times_of_rounds(ratios(it.speeds, all[1].speeds)), digits(median(it.rates) / 1e9, 1),
               times_of_rounds(ratios(it.rates, bandwidths))});
}

}  // namespace rondo

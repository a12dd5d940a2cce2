// Training steps of two models that differ in model.output alone, in turns.
#include "bench/adaptive.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "autograd/functions.h"
#include "bench/machine.h"
#include "lm/program/recipe.h"
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
  recipe.language_model().model.layers = 1;
  recipe.language_model().model.embedding = 256;
  recipe.language_model().model.hidden = {width};
  recipe.language_model().model.output = output;
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
  void step() {
    if (!training_.trainer.next_batch()) {
      training_.trainer.begin_next_epoch();
      training_.trainer.next_batch();
    }
    training_.trainer.step();
    training_.trainer.metrics();
  }

 private:
  Training training_;
  const Tokens targets_;
  const Tensor features_ = Tensor({rows, width}), gradient_ = Tensor::zeros({rows, width});
};

template <class Work>
double milliseconds_of(Work work, double seconds) {
  int64_t count = 0;
  const double start = now();
  double end = start;
  for (; end - start < seconds; end = now(), ++count) work();
  return 1e3 * (end - start) / static_cast<double>(count);
}

}  // namespace

void print_adaptive(int rounds, double seconds) {
  const std::vector<int32_t> ids = zipf_symbols(static_cast<size_t>(50 * rows + 1));
  Trained full(OutputKind::softmax, ids), adaptive(OutputKind::adaptive, ids);
  fmt::print(
      "\nadaptive softmax: V {}, LSTM and its output {} wide, B {}, T {}, symbols of Zipf's law, {} threads; "
      "milliseconds, and how many times as fast, round by round\n",
      vocabulary, width, streams, steps, threads());
  const auto compare = [&](const char* name, void (Trained::*work)()) {
    std::vector<double> of_full, of_adaptive, ratios;
    for (Trained* it : {&full, &adaptive}) (it->*work)();  // allocates, and packs weights
    for (int round = 0; round < rounds; ++round) {
      of_full.push_back(milliseconds_of([&] { (full.*work)(); }, seconds));
      of_adaptive.push_back(milliseconds_of([&] { (adaptive.*work)(); }, seconds));
      ratios.push_back(of_full.back() / of_adaptive.back());
    }
    fmt::print("  {:<24} full {:>7.0f}  adaptive {:>6.0f}  {:>5.1f}x ({:.1f})\n", name, median(of_full),
               median(of_adaptive), median(ratios), fmt::join(ratios, " "));
    std::fflush(stdout);
  };
  compare("the output layer alone", &Trained::output_layer);
  compare("a training step", &Trained::step);
}

}  // namespace rondo

// A test of the model before it is trained.
#include "lm/tasks/self_test.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "autograd/functions.h"
#include "tensor/random.h"

namespace rondo {
namespace {

/// States as after a few symbols: between -1 and 1, without a pattern.
std::vector<State> some_states(const LanguageModel& model, int64_t B) {
  std::vector<State> states;
  uint32_t draw = 0;
  for (const State& state : model.initial_states(B))
    states.push_back(state.map([&](const Variable& x) -> Variable {
      const Tensor drawn(x.shape());
      fill_uniform(drawn, {.seed = 1, .name = hash_of("self_test"), .draw = draw++}, real(-0.9), real(0.9));
      return drawn.to(x.value().device());
    }));
  return states;
}

/// Adds the gradients of the loss on a few symbols.
void add_gradients(LanguageModel& model, int64_t T, int64_t B) {
  std::vector<int32_t> ids, targets;
  for (int64_t i = 0; i < T * B; ++i) {
    ids.push_back(static_cast<int32_t>(i % model.vocabulary_size()));
    targets.push_back(static_cast<int32_t>((3 * i + 1) % model.vocabulary_size()));
  }
  const auto [output, after] = model.forward({tokens(ids), T, B}, some_states(model, B));
  model.cross_entropy(output, tokens(targets)).total.backward();
}

/// Those of the named tensors whose gradient is zero.
std::vector<std::string> without_gradient(const LanguageModel& model, const std::vector<std::string>& names) {
  std::vector<std::string> missed;
  for (const Segment& segment : model.segments()) {
    if (std::find(names.begin(), names.end(), segment.name) == names.end()) continue;
    const std::vector<real> gradient = part_of(model.gradients(), segment).to_vector();
    const auto is_zero = [](real x) { return x == 0; };
    if (std::all_of(gradient.begin(), gradient.end(), is_zero)) missed.push_back(segment.name);
  }
  return missed;
}

}  // namespace

void check_gradients_reach_all(LanguageModel& model) {
  constexpr int64_t T = 4, B = 2;
  const EvaluationMode mode(model);
  std::vector<std::string> all, recurrent;
  for (const Segment& segment : model.segments()) all.push_back(segment.name);
  for (const Cell* cell : model.cells())
    for (const Recurrent* it : cell->recurrent_weights()) recurrent.push_back(it->weight.name());
  fill(model.gradients(), 0);
  add_gradients(model, T, B);
  std::vector<std::string> missed = without_gradient(model, all);
  if (missed.empty() && model.options().regularization.weight_drop > 0) {
    // With weight drop the gradient flows through another tensor. Several draws, since one may drop all of a
    // tiny weight.
    fill(model.gradients(), 0);
    model.set_training(true);
    model.set_statistics_rate({});
    constexpr uint64_t draws = 8;
    missed = recurrent;
    for (uint64_t draw = 0; draw < draws && !missed.empty(); ++draw) {
      model.begin_update({.seed = 1, .update = draw, .slice = {B, 0, B}});
      add_gradients(model, T, B);
      missed = without_gradient(model, recurrent);
    }
  }
  fill(model.gradients(), 0);
  check(missed.empty(),
        "no gradient reaches {}: training would leave {} as {}. A cell that does not use all its weights, or "
        "initial values that are all 0, are the usual causes",
        fmt::join(missed, ", "), missed.size() == 1 ? "it" : "them",
        missed.size() == 1 ? "it is" : "they are");
}

}  // namespace rondo

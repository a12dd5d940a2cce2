// A test of the model before it is trained.
#include "lm/self_test.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "autograd/functions.h"
#include "tensor/random.h"

namespace rondo {
namespace {

/// The model in evaluation mode, while this lives.
class EvaluationMode {
 public:
  explicit EvaluationMode(Module& model)
      : model_(model), training_(model.training()), rate_(model.statistics_rate()) {
    model.set_training(false);
  }
  ~EvaluationMode() {
    model_.set_training(training_);
    model_.set_statistics_rate(rate_);
  }
  EvaluationMode(const EvaluationMode&) = delete;
  EvaluationMode& operator=(const EvaluationMode&) = delete;

 private:
  Module& model_;
  bool training_;
  std::optional<double> rate_;
};

/// As after a few symbols: between -1 and 1, and of no pattern.
std::vector<State> some_states(const LanguageModel& model, int64_t B) {
  std::vector<State> states;
  uint32_t draw = 0;
  for (const State& state : model.initial_states(B))
    states.push_back(state.map([&](const Variable& x) -> Variable {
      const Tensor drawn(x.shape());
      fill_uniform(drawn, {.seed = 1, .name = hash_of("self_test"), .draw = draw++}, real(-0.9), real(0.9));
      return drawn;
    }));
  return states;
}

}  // namespace

void check_gradients_reach_all(LanguageModel& model) {
  constexpr int64_t T = 4, B = 2;
  const EvaluationMode mode(model);
  std::vector<int32_t> ids, targets;
  for (int64_t i = 0; i < T * B; ++i) {
    ids.push_back(static_cast<int32_t>(i % model.vocabulary_size()));
    targets.push_back(static_cast<int32_t>((3 * i + 1) % model.vocabulary_size()));
  }
  fill(model.gradients(), 0);
  const auto [output, after] = model.forward({tokens(ids), T, B}, some_states(model, B));
  model.cross_entropy(output, tokens(targets)).total.backward();
  std::vector<std::string> missed;
  for (const Segment& segment : model.segments()) {
    const std::vector<real> gradient = Module::view(model.gradients(), segment).to_vector();
    const auto is_zero = [](real x) { return x == 0; };
    if (std::all_of(gradient.begin(), gradient.end(), is_zero)) missed.push_back(segment.name);
  }
  fill(model.gradients(), 0);
  check(missed.empty(),
        "no gradient reaches {}: training would leave {} as {}. A cell that does not use all its weights, or "
        "initial values that are all 0, are the usual causes",
        fmt::join(missed, ", "), missed.size() == 1 ? "it" : "them",
        missed.size() == 1 ? "it is" : "they are");
}

}  // namespace rondo

// Interpolation of several runs.
#include "lm/program/interpolation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "autograd/sequence.h"
#include "lm/program/model.h"

namespace rondo {
namespace {

/// What each stream of a chunk begins with; `states` are those at the end of the last chunk.
std::vector<State> states_before(const LanguageModel& model, const std::vector<State>& states,
                                 const Chunk& chunk, const std::vector<std::int32_t>& continues) {
  if (chunk.from_zero_state) return model.initial_states(chunk.streams);
  std::vector<std::int32_t> same(static_cast<std::size_t>(states.front().h.shape()[0]));
  std::iota(same.begin(), same.end(), 0);
  if (continues == same) return states;
  const Tokens rows = tokens(continues);
  std::vector<State> chosen;
  for (const State& state : states)
    chosen.push_back(state.map([&](const Variable& x) { return gather_rows(x, rows); }));
  return chosen;
}

/// The losses of a chunk's targets in nats; `states` are then those at its end.
std::vector<double> read_chunk(LanguageModel& model, std::vector<State>& states, const Chunk& chunk,
                               const std::vector<std::int32_t>& continues) {
  const NoGradient guard;
  auto [output, after] = model.forward({tokens(chunk.inputs), chunk.steps, chunk.streams},
                                       states_before(model, states, chunk, continues));
  states = std::move(after);
  const std::vector<real> nats = model.cross_entropy(output, tokens(chunk.targets)).each.to_vector();
  return {nats.begin(), nats.end()};
}

}  // namespace

Interpolation::Interpolation(const std::vector<std::string>& runs, std::vector<double> weights, Device device)
    : weights_(std::move(weights)), states_(runs.size()) {
  for (const std::string& path : runs) {
    runs_.push_back(open_run(path, device));
    const Vocabulary &first = vocabulary(), &other = runs_.back().vocabulary;
    check_input(
        first.to_text() == other.to_text() && first.tokenization().unit == other.tokenization().unit &&
            first.tokenization().strip_lines == other.tokenization().strip_lines,
        "--with {}: its vocabulary is not that of {}: only probabilities of the same symbols can be averaged",
        path, runs.front());
  }
  check_input(weights_.empty() || weights_.size() == runs_.size(),
              "--weights: give one for RUN and one for each --with, here {}, not {}", runs_.size(),
              weights_.size());
  if (weights_.empty()) weights_.assign(runs_.size(), 1);
  const double sum = std::accumulate(weights_.begin(), weights_.end(), 0.0);
  check_input(sum > 0 && std::isfinite(sum), "--weights: at least one must be above 0");
  for (double& weight : weights_) weight /= sum;
}

std::vector<double> Interpolation::read(const Chunk& chunk, const std::vector<std::int32_t>& continues) {
  std::vector<double> mixed = read_chunk(*runs_[0].model, states_[0], chunk, continues);
  if (runs_.size() == 1) return mixed;
  std::vector<std::vector<double>> of_each{mixed};
  for (std::size_t m = 1; m < runs_.size(); ++m)
    of_each.push_back(read_chunk(*runs_[m].model, states_[m], chunk, continues));
  for (std::size_t i = 0; i < mixed.size(); ++i) {
    double least = std::numeric_limits<double>::infinity(), sum = 0;
    for (std::size_t m = 0; m < runs_.size(); ++m)
      if (weights_[m] > 0) least = std::min(least, of_each[m][i]);
    for (std::size_t m = 0; m < runs_.size(); ++m)
      if (weights_[m] > 0) sum += weights_[m] * std::exp(least - of_each[m][i]);
    mixed[i] = least - std::log(sum);
  }
  return mixed;
}

bool Interpolation::unknown_is_trained() const {
  return std::all_of(runs_.begin(), runs_.end(), rondo::unknown_is_trained);
}

}  // namespace rondo

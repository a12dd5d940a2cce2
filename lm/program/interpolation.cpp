// Interpolation of several models.
#include "lm/program/interpolation.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>
#include <utility>

#include "autograd/sequence.h"
#include "data/arpa.h"
#include "data/input_file.h"
#include "data/symbols.h"

namespace rondo {
namespace {

class ReadingRun : public InterpolatedModel {
 public:
  explicit ReadingRun(std::unique_ptr<LanguageModel> model) : model_(std::move(model)) {}

  std::vector<double> read(const Chunk& chunk, const std::vector<std::int32_t>& continues) override {
    const NoGradient guard;
    auto [output, after] =
        model_->forward({tokens(chunk.inputs), chunk.steps, chunk.streams}, states_before(chunk, continues));
    states_ = std::move(after);
    const std::vector<real> nats = model_->cross_entropy(output, tokens(chunk.targets)).each.to_vector();
    return {nats.begin(), nats.end()};
  }

 private:
  /// What each stream of a chunk begins with.
  std::vector<State> states_before(const Chunk& chunk, const std::vector<std::int32_t>& continues) const {
    if (chunk.from_zero_state) return model_->initial_states(chunk.streams);
    std::vector<std::int32_t> same(static_cast<std::size_t>(states_.front().h.shape()[0]));
    std::iota(same.begin(), same.end(), 0);
    if (continues == same) return states_;
    const Tokens rows = tokens(continues);
    std::vector<State> chosen;
    for (const State& state : states_)
      chosen.push_back(state.map([&](const Variable& x) { return gather_rows(x, rows); }));
    return chosen;
  }

  std::unique_ptr<LanguageModel> model_;
  std::vector<State> states_;  // at the end of the last chunk
};

/// Streams are lines, one after another: each begins with `<s>`, as in log_probabilities() of
/// data/ngram_model.h.
class ReadingNgrams : public InterpolatedModel {
 public:
  /// `ids` are those of the model for the run's symbols.
  ReadingNgrams(NgramModel model, std::vector<std::int32_t> ids, std::optional<std::int32_t> line_end)
      : model_(std::move(model)), ids_(std::move(ids)), line_end_(line_end) {}

  std::vector<double> read(const Chunk& chunk, const std::vector<std::int32_t>& continues) override {
    const auto B = static_cast<std::size_t>(chunk.streams);
    std::vector<NgramModel::State> contexts(B, model_.line_start());
    if (!chunk.from_zero_state)
      for (std::size_t b = 0; b < B; ++b) contexts[b] = contexts_.at(static_cast<std::size_t>(continues[b]));
    contexts_ = std::move(contexts);
    std::vector<double> nats(chunk.targets.size());
    for (std::size_t i = 0; i < nats.size(); ++i) {
      NgramModel::State& context = contexts_[i % B];
      const std::int32_t input = chunk.inputs[i], target = chunk.targets[i];
      context = input == line_end_ ? model_.line_start() : model_.step(context, id(input)).next;
      if (target >= 0) nats[i] = -model_.step(context, id(target)).log_probability;
    }
    return nats;
  }

 private:
  std::int32_t id(std::int32_t of_run) const { return ids_.at(static_cast<std::size_t>(of_run)); }

  NgramModel model_;
  std::vector<std::int32_t> ids_;
  std::optional<std::int32_t> line_end_;     // of the run
  std::vector<NgramModel::State> contexts_;  // of each stream, at the end of the last chunk
};

}  // namespace

void Interpolation::add_run(OpenRun run) {
  unknown_is_trained_ &= rondo::unknown_is_trained(run.config, run.vocabulary);
  models_.push_back(std::make_unique<ReadingRun>(std::move(run.model)));
}

void Interpolation::add_ngrams(const std::string& arpa) {
  Arpa it = read_arpa(arpa, vocabulary_.tokenization());
  std::vector<std::int32_t> ids;
  for (std::int32_t symbol = 0; symbol < vocabulary_.size(); ++symbol) {
    const auto id = it.vocabulary.id(vocabulary_.symbol(symbol));
    check_input(id.has_value(),
                "--with {}: lacks '{}', a symbol of {}: only probabilities of the same symbols can be "
                "averaged",
                arpa, escape_symbol(vocabulary_.symbol(symbol)), first_);
    ids.push_back(*id);
  }
  for (std::int32_t id = 0; id < it.vocabulary.size(); ++id) {
    const std::string& symbol = it.vocabulary.symbol(id);
    check_input(
        symbol == unknown_symbol || vocabulary_.id(symbol),
        "--with {}: has '{}', which {} lacks: only probabilities of the same symbols can be averaged; "
        "an n-gram model of a text in which such symbols are {} has the same",
        arpa, escape_symbol(symbol), first_, unknown_symbol);
  }
  models_.push_back(
      std::make_unique<ReadingNgrams>(std::move(it.model), std::move(ids), vocabulary_.line_end_id()));
}

Interpolation::Interpolation(OpenRun first, const std::vector<std::string>& others,
                             std::vector<double> weights, Device device)
    : first_(first.folder.path.string()), vocabulary_(first.vocabulary), weights_(std::move(weights)) {
  add_run(std::move(first));
  for (const std::string& path : others) {
    if (file_is_there(path) && !std::filesystem::is_directory(path)) {
      add_ngrams(path);
      continue;
    }
    OpenRun other = open_run(path, device);
    const Tokenization &of_first = vocabulary_.tokenization(), &of_other = other.vocabulary.tokenization();
    const bool has_same_unit = of_first.unit == of_other.unit && of_first.strip_lines == of_other.strip_lines;
    check_input(has_same_unit && vocabulary_.to_text() == other.vocabulary.to_text(),
                "--with {}: its vocabulary is not that of {}: only probabilities of the same symbols can be "
                "averaged{}",
                path, first_, has_same_unit ? "; data.vocabulary_file trains a run with another's" : "");
    add_run(std::move(other));
  }
  check_input(weights_.empty() || weights_.size() == models_.size(),
              "--weights: give one for RUN and one for each --with, here {}, not {}", models_.size(),
              weights_.size());
  if (weights_.empty()) weights_.assign(models_.size(), 1);
  const double sum = std::accumulate(weights_.begin(), weights_.end(), 0.0);
  check_input(sum > 0 && std::isfinite(sum), "--weights: at least one must be above 0");
  for (double& weight : weights_) weight /= sum;
}

std::vector<double> Interpolation::read(const Chunk& chunk, const std::vector<std::int32_t>& continues) {
  std::vector<std::vector<double>> of_each;
  for (const auto& model : models_) of_each.push_back(model->read(chunk, continues));
  if (models_.size() == 1) return of_each.front();
  std::vector<double> mixed(of_each.front().size());
  for (std::size_t i = 0; i < mixed.size(); ++i) {
    double least = std::numeric_limits<double>::infinity(), sum = 0;
    for (std::size_t m = 0; m < models_.size(); ++m)
      if (weights_[m] > 0) least = std::min(least, of_each[m][i]);
    for (std::size_t m = 0; m < models_.size(); ++m)
      if (weights_[m] > 0 && std::isfinite(least)) sum += weights_[m] * std::exp(least - of_each[m][i]);
    mixed[i] = std::isfinite(least) ? least - std::log(sum) : least;
  }
  return mixed;
}

}  // namespace rondo

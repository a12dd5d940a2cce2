// Scores of labels by an n-gram model; see lm/decoding/label_scorer.h.
#include "lm/decoding/label_scorer.h"

#include <algorithm>

#include "tensor/error.h"

namespace rondo {

LabelScorer::LabelScorer(const NgramModel& model, const Vocabulary& vocabulary, NgramUnit unit,
                         std::vector<std::string> labels, const LabelScoreOptions& options)
    : model_(model),
      vocabulary_(vocabulary),
      labels_(std::move(labels)),
      options_(options),
      line_end_(vocabulary.line_end_id()),
      unknown_(vocabulary.unknown_id()) {
  check(model.symbols() == vocabulary.size(), "[label scorer] a model of {} symbols and {} names",
        model.symbols(), vocabulary.size());
  const auto id_of = [&](std::string_view symbol) {
    const auto id = vocabulary.id(symbol);
    check_input(id || unknown_, "the language model does not know '{}' and has no {}", symbol,
                unknown_symbol);
    return id ? *id : *unknown_;
  };
  if (unit == NgramUnit::words) {
    space_ = static_cast<std::size_t>(std::find(labels_.begin(), labels_.end(), " ") - labels_.begin());
    check_input(space_ > 0 && space_ < labels_.size(),
                "a language model of words needs a label that is a space");
    id_of(unknown_symbol);
  } else {
    symbols_.resize(labels_.size());
    for (std::size_t k = 1; k < labels_.size(); ++k) symbols_[k] = id_of(labels_[k]);
  }
}

LabelScorer::Scored LabelScorer::scored(const NgramModel::State& context,
                                        std::optional<std::int32_t> symbol) const {
  if (!symbol) return {0, context};
  const NgramModel::Step step = model_.step(context, *symbol);
  return {options_.weight * step.log_probability + options_.bonus, step.next};
}

std::optional<std::int32_t> LabelScorer::word_of(const State& state) const {
  if (state.word.empty()) return std::nullopt;
  const auto id = vocabulary_.id(state.word);
  return id ? id : unknown_;
}

std::optional<std::int32_t> LabelScorer::symbol_ended_by(const State& state, std::size_t label) const {
  if (space_ == 0) return symbols_.at(label);
  return label == space_ ? word_of(state) : std::nullopt;
}

void LabelScorer::add_scores(const State& state, std::span<double> of_labels) const {
  check(of_labels.size() == labels_.size(), "[label scorer] {} labels were expected: {}", labels_.size(),
        of_labels.size());
  for (std::size_t k = 1; k < labels_.size(); ++k)
    of_labels[k] = scored(state.context, symbol_ended_by(state, k)).score;
}

LabelScorer::State LabelScorer::after(const State& state, std::int32_t label) const {
  const auto k = static_cast<std::size_t>(label);
  const bool goes_on = space_ > 0 && k != space_;
  return {scored(state.context, symbol_ended_by(state, k)).next, goes_on ? state.word + labels_.at(k) : ""};
}

double LabelScorer::score_end(const State& state) const {
  const Scored last = scored(state.context, word_of(state));
  return last.score + (line_end_ ? options_.weight * model_.step(last.next, *line_end_).log_probability : 0);
}

}  // namespace rondo

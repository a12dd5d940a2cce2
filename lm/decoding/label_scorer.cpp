// Scores of labels by an n-gram model; see lm/decoding/label_scorer.h.
#include "lm/decoding/label_scorer.h"

#include <algorithm>

#include "data/ngram/ngram_model.h"
#include "tensor/error.h"

namespace rondo {

using detail::index_of;

namespace {

/// The model's id of a label or word that it may not know.
int32_t id_or_unknown(const Vocabulary& vocabulary, const std::string& text) {
  if (const auto id = vocabulary.id(text)) return *id;
  const auto unknown = vocabulary.unknown_id();
  check_input(unknown.has_value(), "the language model does not know '{}' and has no {}", text,
              unknown_symbol);
  return *unknown;
}

void check_model(const NgramModel& model, const Vocabulary& vocabulary) {
  check(model.symbols() == vocabulary.size(), "[label scorer] a model of {} symbols and {} names",
        model.symbols(), vocabulary.size());
}

}  // namespace

SymbolScorer::SymbolScorer(const NgramModel& model, const Vocabulary& vocabulary,
                           const std::vector<std::string>& labels, const LabelScoreOptions& options)
    : model_(model), options_(options), symbols_(labels.size()), line_end_(vocabulary.line_end_id()) {
  check_model(model, vocabulary);
  for (size_t k = 1; k < labels.size(); ++k) symbols_[k] = id_or_unknown(vocabulary, labels[k]);
}

void SymbolScorer::add_scores(const State& state, std::span<double> of_labels) const {
  check(of_labels.size() == symbols_.size(), "[label scorer] {} labels were expected: {}", symbols_.size(),
        of_labels.size());
  for (size_t k = 1; k < symbols_.size(); ++k)
    of_labels[k] = options_.weight * model_.step(state.context, symbols_[k]).log_probability + options_.bonus;
}

LabelScorer::State SymbolScorer::after(const State& state, int32_t label) const {
  return {model_.step(state.context, symbols_.at(index_of(label))).next, {}};
}

double SymbolScorer::score_end(const State& state) const {
  return line_end_ ? options_.weight * model_.step(state.context, *line_end_).log_probability : 0;
}

WordScorer::WordScorer(const NgramModel& model, const Vocabulary& vocabulary,
                       const std::vector<std::string>& labels, const LabelScoreOptions& options)
    : model_(model),
      vocabulary_(vocabulary),
      labels_(labels),
      options_(options),
      line_end_(vocabulary.line_end_id()) {
  check_model(model, vocabulary);
  const auto space = std::find(labels.begin() + (labels.empty() ? 0 : 1), labels.end(), " ");
  check_input(space != labels.end(), "a language model of words needs a label that is a space");
  space_ = static_cast<int32_t>(space - labels.begin());
  unknown_ = id_or_unknown(vocabulary, std::string(unknown_symbol));
}

WordScorer::Scored WordScorer::scored(const State& state) const {
  if (state.word.empty()) return {0, state.context};
  const NgramModel::Step step = model_.step(state.context, vocabulary_.id(state.word).value_or(unknown_));
  return {options_.weight * step.log_probability + options_.bonus, step.next};
}

void WordScorer::add_scores(const State& state, std::span<double> of_labels) const {
  check(of_labels.size() == labels_.size(), "[label scorer] {} labels were expected: {}", labels_.size(),
        of_labels.size());
  std::fill(of_labels.begin(), of_labels.end(), 0.0);
  of_labels[index_of(space_)] = scored(state).score;
}

LabelScorer::State WordScorer::after(const State& state, int32_t label) const {
  if (label == space_) return {scored(state).next, {}};
  return {state.context, state.word + labels_.at(index_of(label))};
}

double WordScorer::score_end(const State& state) const {
  const Scored last = scored(state);
  return last.score + (line_end_ ? options_.weight * model_.step(last.next, *line_end_).log_probability : 0);
}

}  // namespace rondo

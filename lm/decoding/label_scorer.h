// How a language model judges labels while a search writes them: by each label, or by the words that labels
// spell, once a word ends. Deep Speech (Hannun et al. 2014), equation 2: the search maximises
//
//   log p(labels | frames) + weight * log p_lm(text) + bonus * (number of symbols of text),
//
// where the symbols are those of the language model; its probabilities favour short texts, the bonus makes
// up for it. Next: lm/decoding/prefix_search.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/ngram/ngram_model.h"
#include "data/text/vocabulary.h"

namespace rondo {

struct LabelScoreOptions {
  double weight = 0.5;  // of the language model's log p
  double bonus = 0;     // nats for each of its symbols
};

class LabelScorer {
 public:
  /// What the scores of further labels depend on.
  struct State {
    NgramModel::State context;
    std::string word;  // the letters of a word that has not ended
  };

  LabelScorer() = default;
  LabelScorer(const LabelScorer&) = delete;
  LabelScorer& operator=(const LabelScorer&) = delete;
  virtual ~LabelScorer() = default;

  /// Of labels that begin a line.
  virtual State start() const = 0;
  /// What each label adds to the score, in nats: V numbers, that of label 0, the blank, unused.
  virtual void add_scores(const State& state, std::span<double> of_labels) const = 0;
  virtual State after(const State& state, int32_t label) const = 0;
  /// What the end of the line adds.
  virtual double score_end(const State& state) const = 0;
};

/// Every label is a symbol of the model, such as a character.
class SymbolScorer : public LabelScorer {
 public:
  /// Both must outlive it. labels[k] is the text of label k; labels[0], the blank, is not read. A label that
  /// the model does not know is its `<unk>`. InputError if there is none.
  SymbolScorer(const NgramModel& model, const Vocabulary& vocabulary, const std::vector<std::string>& labels,
               const LabelScoreOptions& options);

  State start() const override { return {model_.line_start(), {}}; }
  void add_scores(const State& state, std::span<double> of_labels) const override;
  State after(const State& state, int32_t label) const override;
  double score_end(const State& state) const override;

 private:
  const NgramModel& model_;
  LabelScoreOptions options_;
  std::vector<int32_t> symbols_;  // by label
  std::optional<int32_t> line_end_;
};

/// Labels spell words, with a label " " between them; a word is scored when it ends. A word that the model
/// does not know is its `<unk>`.
class WordScorer : public LabelScorer {
 public:
  /// As for SymbolScorer; the model is one of words. InputError if no label is " ", too.
  WordScorer(const NgramModel& model, const Vocabulary& vocabulary, const std::vector<std::string>& labels,
             const LabelScoreOptions& options);

  State start() const override { return {model_.line_start(), {}}; }
  void add_scores(const State& state, std::span<double> of_labels) const override;
  State after(const State& state, int32_t label) const override;
  double score_end(const State& state) const override;

 private:
  struct Scored {
    double score;
    NgramModel::State next;
  };
  /// The word that has ended; no word, as between two spaces, costs nothing.
  Scored scored(const State& state) const;

  const NgramModel& model_;
  const Vocabulary& vocabulary_;
  std::vector<std::string> labels_;
  LabelScoreOptions options_;
  int32_t space_ = 0, unknown_ = 0;
  std::optional<int32_t> line_end_;
};

}  // namespace rondo

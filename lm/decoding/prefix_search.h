// From what a recogniser says of each step to a transcript: label sequences from the frames of a CTC model
// (autograd/ctc_loss.h), whose symbol 0 is the blank. Used by lm/tasks/speech.h.
//
// best_path(): the most probable symbol of each frame, repeats merged and blanks removed (Graves et al.
// 2006, section 3.2). prefix_search(): the most probable labels, approximately, as the sum over their paths:
// Hannun, Maas, Jurafsky & Ng 2014, "First-pass large vocabulary continuous speech recognition using
// bi-directional recurrent DNNs", algorithm 1, in logarithms. It keeps the best prefixes of labels, each with
// the probability of the paths that end in a blank and of those that end in its last label: only after a
// blank does the same label begin again. A language model adds to a prefix's score, not to its
// probability, so that the two can be told apart.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/ngram/arpa.h"
#include "tensor/tensor.h"

namespace rondo {

// --- Language model ---
// How an n-gram model judges labels while a search writes them: by each label, or by the words that labels
// spell, once a word ends. Deep Speech (Hannun et al. 2014), equation 2: the search maximises
//
//   log p(labels | frames) + weight * log p_lm(text) + bonus * (number of symbols of text),
//
// where the symbols are those of the language model; its probabilities favour short texts, the bonus makes
// up for it.

/// The symbols of an n-gram model.
enum class NgramUnit { words, characters };
inline std::vector<std::string> names_of(NgramUnit) { return {"words", "characters"}; }

struct SpeechDecodingOptions {
  std::int64_t beam = 1;  // prefixes that a search keeps; 1: the best path
  std::string ngram{};    // an ARPA file; empty: none
  NgramUnit ngram_unit = NgramUnit::words;
  double ngram_weight = 0.5;
  double insertion_bonus = 0;  // nats for each symbol of the n-gram model
};
Keys keys_of(SpeechDecodingOptions& options);
/// Throws InputError for options out of range, and for an n-gram model without a search.
void check_options(const SpeechDecodingOptions& options);
/// How it is decoded, for reports: "greedy search", "a beam of 16 with FILE, weight 0.5, bonus 0".
std::string text_of(const SpeechDecodingOptions& options);

class LabelScorer {
 public:
  /// What the scores of further labels depend on.
  struct State {
    NgramModel::State context{};
    std::string word{};  // the letters of a word that has not ended
  };

  /// `model` and `vocabulary` must outlive it. labels[k] is the text of label k; labels[0], the blank, is not
  /// read. A label " " ends a word; of characters every label is a symbol. What the vocabulary does not know
  /// is its `<unk>`, which it has, as that of read_arpa(). InputError for a model of words without a label
  /// " ".
  LabelScorer(const NgramModel& model, const Vocabulary& vocabulary, std::vector<std::string> labels,
              const SpeechDecodingOptions& options);
  LabelScorer(const LabelScorer&) = delete;
  LabelScorer& operator=(const LabelScorer&) = delete;

  /// The state before the labels of a line.
  State start() const { return {model_.line_start(), {}}; }
  /// What each label adds to the score, in nats: V numbers, that of label 0, the blank, unused.
  void add_scores(const State& state, std::span<double> of_labels) const;
  State after(const State& state, std::int32_t label) const;
  /// What the end of the line adds.
  double score_end(const State& state) const;

 private:
  struct Scored {
    double score;
    NgramModel::State next;
  };
  /// No symbol costs nothing.
  Scored scored(const NgramModel::State& context, std::optional<std::int32_t> symbol) const;
  /// The symbol that a label ends. None if a word goes on, or is empty, as between two spaces.
  std::optional<std::int32_t> symbol_ended_by(const State& state, std::size_t label) const;
  /// The id of the letters as a word; none of no letters.
  std::optional<std::int32_t> word_of(const State& state) const;

  const NgramModel& model_;
  const Vocabulary& vocabulary_;
  std::vector<std::string> labels_;
  std::size_t space_ = 0;                // the label that ends a word; 0: each label is a symbol
  std::vector<std::int32_t> symbols_{};  // of each label, where labels are symbols
  SpeechDecodingOptions options_;
  std::optional<std::int32_t> line_end_;
  std::int32_t unknown_;
};

// --- Search ---

struct LabelHypothesis {
  std::vector<int32_t> labels;
  /// The natural logarithm: of the sum over the paths that were followed; of best_path() of one path.
  double log_p = 0;
  double score = 0;  // that hypotheses are ranked by: log_p and what a language model adds
};

/// Returns the labels of the most probable symbol of each frame of log_p [frames, symbols], on the host; of
/// equal ones it takes the first. Throws Error, as prefix_search() does, for probabilities that are not
/// numbers, or on another device, and for no symbols.
LabelHypothesis best_path(const Tensor& log_p);

/// The labels that are left, best first, equal ones in a fixed order: at most `beam`, as after each frame.
/// Without a scorer the score is log p. Time: frames * beam * symbols. Error for a beam below 1.
std::vector<LabelHypothesis> prefix_search(const Tensor& log_p, int64_t beam,
                                           const LabelScorer* scorer = nullptr);

// --- Decoder ---
// By the best path; by a search for the most probable labels; or by such a search with an n-gram model.

class SpeechDecoder {
 public:
  /// Reads the n-gram model. `vocabulary` is the recogniser's; its symbol 0 is the blank. InputErrors of
  /// check_options(), of read_arpa(), and of the scorers.
  SpeechDecoder(const SpeechDecodingOptions& options, const Vocabulary& vocabulary);

  /// Decodes the log probabilities of an utterance, [steps, symbols] on the host.
  LabelHypothesis operator()(const Tensor& log_p) const;
  const SpeechDecodingOptions& options() const { return options_; }

 private:
  SpeechDecodingOptions options_;
  std::optional<Arpa> ngram_;
  std::optional<LabelScorer> scorer_;
};

}  // namespace rondo

// Beam search (Graves 2012, "Sequence Transduction with Recurrent Neural Networks"; Sutskever, Vinyals & Le
// 2014): the most probable sentences that a model can write, approximately. Hypotheses Y of a source X are
// ranked as in Wu et al. 2016, "Google's Neural Machine Translation System", equation 14:
//
//   score = log p(Y | X) / lp
//   lp = ((5 + |Y|) / 6)^length_penalty
//
// where |Y| counts the end symbol; without their penalty for parts of the source that have no attention. Live
// hypotheses are equally long and are compared by log p alone.
//
// In each step the candidates are all live hypotheses, each with all next symbols. An end symbol finishes its
// hypothesis if this is one of the `beam` best candidates; without that condition a beam of 1 would not be
// greedy search. The best `beam` candidates with another symbol live on. A sentence is done
//   - when n_best hypotheses have finished and no live one can beat the last of these any more: its log p
//     only falls and lp grows with the length, so that the score cannot exceed log p / lp(max_length), for
//     length_penalty = 0 the log p that it has;
//   - when `beam` hypotheses have finished and no live one beats the last of the n_best by the score that it
//     has now: with a length penalty, the bound alone would let most searches continue to max_length;
//   - at max_length.
// It then leaves the grid, so that it takes no more time. A beam of 1 is greedy search. A sentence's result
// does not depend on the others of its batch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tensor/keys.h"
#include "tensor/tensor.h"

namespace rondo {

// --- Predictor ---
// What a search needs from a model: the distribution of the next symbol after each of some hypotheses; and
// what it returns.

/// A model with a grid of hypotheses, K of each of B sentences: row k * B + b is hypothesis k of sentence b.
/// It begins with K = 1 hypothesis of each sentence, without symbols. Gradients are not needed.
class Predictor {
 public:
  Predictor() = default;
  Predictor(const Predictor&) = delete;
  Predictor& operator=(const Predictor&) = delete;
  virtual ~Predictor() = default;

  /// Tensors on any device, valid until the next call.
  struct Prediction {
    Tensor log_p;        // of each next symbol, natural logarithms, [K * B, V]
    Tensor attention{};  // weights of the positions of the source, [K * B, S]; undefined if there are none
  };
  /// Reads one symbol of each hypothesis, K * B ids. The first ids are the end symbol: of the sentence
  /// before.
  virtual Prediction next(const std::vector<int32_t>& ids) = 0;
  /// Makes another grid of some rows of this one: B' of its columns, `sentences`, in ascending order, and
  /// K' rows of each. Row k * B' + b is the old row rows[k * B' + b], which is of the column sentences[b].
  virtual void select(const std::vector<int64_t>& rows, const std::vector<int64_t>& sentences) = 0;

  virtual int64_t sentences() const = 0;  // B
  /// Columns of the attention that are not padding, of each sentence; empty: all of them.
  virtual std::vector<int64_t> source_lengths() const { return {}; }
};

/// Symbols with a meaning of their own.
struct SearchSymbols {
  int32_t end;                       // of a sentence
  std::optional<int32_t> unknown{};  // chosen only if the options of a search allow it
};

/// A sentence that a search has found.
struct Hypothesis {
  std::vector<int32_t> ids;  // without the end symbol
  double log_p = 0;          // of all symbols, with the end symbol of a finished one
  double score = 0;          // that hypotheses are ranked by
  bool finished = false;     // false: cut off at the maximal length
  /// If asked for, and if the model has attention: the weights when each symbol was predicted, and those of
  /// the end symbol of a finished one.
  std::vector<std::vector<float>> attention{};
};

// --- Search ---

/// Hypotheses of a sentence, kept or returned: more than any search needs, and few enough for the memory.
constexpr int64_t largest_beam = 10'000;
inline Limits any_beam() { return between(1, largest_beam); }

struct BeamOptions {
  int64_t beam = 5;  // hypotheses of each sentence at a time
  int64_t n_best = 1;
  double length_penalty = 0.6;  // as Vaswani et al. 2017; 0: none
  int64_t max_length = 200;     // symbols, including the end symbol
  bool allow_unknown = false;
  bool attention = false;  // return it with the hypotheses; not a key: the caller's, not the user's choice
};
Keys keys_of(BeamOptions& options);
/// Throws InputError for options out of range, and for n_best above the beam.
void check_options(const BeamOptions& options);

/// "a beam of 5", "greedy search".
std::string search_text(int64_t beam);

/// The n_best hypotheses of each sentence, best first: finished ones and, where these are fewer, hypotheses
/// that were cut off at max_length. Equal scores are in the order in which the hypotheses were found. There
/// may be fewer than n_best if most symbols have probability 0. InputErrors of check_options();
/// Throws Error for probabilities that are not numbers.
std::vector<std::vector<Hypothesis>> beam_search(Predictor& predictor, const SearchSymbols& symbols,
                                                 const BeamOptions& options);

}  // namespace rondo

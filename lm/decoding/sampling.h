// Sampling: symbols drawn one after another from a model's distribution. Printing is left to `lm generate`
// and to the report of a training. Random numbers are Philox's, so a seed always gives the same text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "data/text/symbols.h"
#include "data/text/vocabulary.h"
#include "nn/models/language_model.h"

namespace rondo {

struct SamplingOptions {
  double temperature = 1;  // divides the logits; 0: always the most probable symbol
  int64_t rank = 0;        // with a temperature of 0 the first symbol is the one with so many above it
  int64_t top_k = 0;       // only the k most probable symbols; 0: all
  double top_p = 1;  // only the smallest set of symbols whose probability is p or more (Holtzman et al. 2020)
  uint64_t seed = 1;
  bool allow_unknown = false;
};

/// The index of a symbol sampled from logits. `number` in (0, 1) is the random number; the symbol `banned`
/// (-1: none) is never chosen. Separate from the model so that it can be tested. Throws Error for options out
/// of range, for logits that are not numbers, and if no symbol can be chosen.
int32_t sample_symbol(const std::vector<real>& logits, const SamplingOptions& options, double number,
                      int32_t banned);
/// The same for the symbol of a text before which `drawn` others have been drawn; `unknown` is banned unless
/// the options allow it.
int32_t draw_symbol(const std::vector<real>& logits, const SamplingOptions& options, uint64_t drawn,
                    std::optional<int32_t> unknown);

/// The softmax of logits: p = exp(logit - largest) / sum.
struct SoftmaxTerms {
  explicit SoftmaxTerms(const std::vector<real>& logits);
  double largest, sum = 0;
};

/// The states of a model in the text that it has read last, for texts that begin in the same way.
struct StatesOfText {
  /// The model reads so many symbols at a time: the same pieces from the beginning of each text, so that a
  /// text that is continued has the same bits as one that is read anew.
  static constexpr int64_t piece = 64;

  std::vector<int32_t> ids{};               // that it has read, in whole pieces
  std::vector<std::vector<State>> after{};  // each piece
  // The text went on with `rest` to its end; there the model had these states and logits of the next symbol.
  std::vector<int32_t> rest{};
  std::vector<State> after_rest{};
  std::vector<real> logits{};
};

class Sampler {
 public:
  /// With `known` states a text begins with those that it has in common with the last one, and leaves its
  /// own.
  Sampler(LanguageModel& model, const Vocabulary& vocabulary, const SamplingOptions& options,
          StatesOfText* known = nullptr);

  /// Reads the given symbols, such as a prompt, and returns their text. The first symbol that is read or
  /// sampled follows the end of a line.
  std::string read(const std::vector<int32_t>& ids);
  /// The same, with the symbols' text as it was written, where it is not in the vocabulary.
  std::string read(const std::vector<int32_t>& ids, const std::vector<std::string>& written);
  /// The text of the next symbol, as it continues the previous text.
  std::string next();
  /// The logarithm of the probability, at a temperature of 1, of the symbol that next() has returned last.
  double log_probability() const;

 private:
  /// Reads what is unread, and returns the logits of the next symbol.
  std::vector<real> logits();

  LanguageModel& model_;
  const Vocabulary& vocabulary_;
  SamplingOptions options_;
  StatesOfText* known_;
  std::vector<State> states_;
  std::vector<int32_t> unread_;  // symbols that the model has not read yet
  SymbolWriter writer_;
  uint64_t drawn_ = 0;
  int32_t last_id_ = -1;
  std::vector<real> last_logits_;
};

// --- Stop strings ---
// What is written so far is passed on only as far as it cannot be the beginning of a string that ends the
// text.

class StopStrings {
 public:
  /// None of them is empty.
  explicit StopStrings(std::vector<std::string> stops) : stops_(std::move(stops)) {}

  /// Takes the next part of the text; returns what can be printed. Once stopped, nothing more.
  std::string take(const std::string& text);
  /// Whether one has been found: what precedes it has been returned, it has not.
  bool stopped() const { return stopped_; }
  /// Returns what was held back, at the end of a text that was not stopped.
  std::string rest() { return std::exchange(held_, ""); }

 private:
  std::vector<std::string> stops_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace rondo

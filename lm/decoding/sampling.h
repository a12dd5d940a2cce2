// Sampling: symbols drawn one after another from a model's distribution. Printing is left to `lm generate`
// and to the report of a training. Random numbers are Philox's, so a seed always gives the same text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/text/symbols.h"
#include "data/text/vocabulary.h"
#include "nn/models/language_model.h"

namespace rondo {

struct SamplingOptions {
  double temperature = 1;  // divides the logits; 0: always the most probable symbol
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

class Sampler {
 public:
  Sampler(LanguageModel& model, const Vocabulary& vocabulary, const SamplingOptions& options);

  /// Reads the given symbols, such as a prompt, and returns their text. The first symbol that is read or
  /// sampled follows the end of a line.
  std::string read(const std::vector<int32_t>& ids);
  /// The same, with the symbols' text as it was written, where it is not in the vocabulary.
  std::string read(const std::vector<int32_t>& ids, const std::vector<std::string>& written);
  /// The text of the next symbol, as it continues the previous text.
  std::string next();

 private:
  LanguageModel& model_;
  const Vocabulary& vocabulary_;
  SamplingOptions options_;
  std::vector<State> states_;
  std::vector<int32_t> unread_;  // symbols that the model has not read yet
  SymbolWriter writer_;
  uint64_t drawn_ = 0;
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
  std::string rest();

 private:
  std::vector<std::string> stops_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace rondo

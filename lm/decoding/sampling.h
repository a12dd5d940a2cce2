// Sampling: the next symbol from a model's distribution, again and again. It deliberately prints nothing: `lm
// generate` and the report of a training do. The numbers are Philox's, so a seed always gives the same text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/symbols.h"
#include "data/vocabulary.h"
#include "nn/models/language_model.h"

namespace rondo {

struct SamplingOptions {
  double temperature = 1;  // divides the logits; 0: always the most probable symbol
  int64_t top_k = 0;       // only the k most probable symbols; 0: all
  double top_p = 1;        // only the fewest symbols whose probabilities reach p (Holtzman et al. 2020)
  uint64_t seed = 1;
  bool allow_unknown = false;
};

/// Chooses from logits: index of the sampled symbol. `number` in (0, 1) is the randomness; banned symbols
/// (-1: none) are never chosen. Separate from the model so that it can be tested.
int32_t sample_symbol(const std::vector<real>& logits, const SamplingOptions& options, double number,
                      int32_t banned);

class Sampler {
 public:
  Sampler(LanguageModel& model, const Vocabulary& vocabulary, const SamplingOptions& options);

  /// Reads symbols that are given, and returns their text. The first one that is read or sampled follows a
  /// line's end.
  std::string read(const std::vector<int32_t>& ids);
  /// The text of the next symbol, as it follows what was written before.
  std::string next();

 private:
  LanguageModel& model_;
  const Vocabulary& vocabulary_;
  SamplingOptions options_;
  std::vector<State> states_;
  std::vector<int32_t> unread_;  // what the model has not seen yet
  SymbolWriter writer_;
  uint64_t drawn_ = 0;
};

}  // namespace rondo

// From what a recogniser says of each step to a transcript: by the best path; by a search for the most
// probable labels; by such a search with an n-gram model of words or characters
// (lm/decoding/prefix_search.h). Used by lm/tasks/speech.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "data/ngram/arpa.h"
#include "lm/decoding/prefix_search.h"

namespace rondo {

struct SpeechDecodingOptions {
  std::int64_t beam = 1;  // prefixes that a search keeps; 1: the best path
  std::string ngram{};    // an ARPA file; empty: none
  NgramUnit ngram_unit = NgramUnit::words;
  double ngram_weight = 0.5;
  double insertion_bonus = 0;  // nats for each symbol of the n-gram model
};
/// `beam`, `ngram`, `ngram_unit`, `ngram_weight`, `insertion_bonus`.
Keys keys_of(SpeechDecodingOptions& options);
/// Throws InputError for options out of range, and for an n-gram model without a search.
void check_options(const SpeechDecodingOptions& options);
/// How it is decoded, for reports: "greedy search", "a beam of 16 with FILE, weight 0.5, bonus 0".
std::string text_of(const SpeechDecodingOptions& options);

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

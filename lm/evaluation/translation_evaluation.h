// How well an encoder-decoder translates: the perplexity of reference translations, and BLEU and chrF of its
// own translations. Next: lm/decoding/translate.h.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "data/pair_batches.h"
#include "lm/decoding/beam_search.h"
#include "lm/evaluation/evaluation.h"
#include "lm/evaluation/metrics.h"
#include "nn/models/encoder_decoder.h"

namespace rondo {

/// Pairs of sentences to evaluate on.
struct TranslationText {
  Pairs pairs{};
  std::vector<std::string> references{};  // the target of each pair as it is written
  const Vocabulary* target = nullptr;     // of the translations
  bool reverse_source = false;            // as in training

  SearchSymbols symbols() const { return {*target->line_end_id(), target->unknown_id()}; }
};

/// Nats per target symbol of the references. `progress` gets the number of sentences done. Dropout is off.
/// At most rows_at_once (lm/evaluation/evaluation.h) symbols of source and target are computed at a time, or
/// one pair.
Evaluation evaluate_pairs(EncoderDecoder& model, const TranslationText& text,
                          const std::function<void(int64_t)>& progress = {});

/// A translation of each source, as UTF-8: U+FFFD stands for a byte that is not.
std::vector<std::string> translations(EncoderDecoder& model, const TranslationText& text,
                                      const BeamOptions& options,
                                      const std::function<void(int64_t)>& progress = {});

/// BLEU and chrF of translations.
struct TranslationScores {
  BleuOptions bleu_options{};
  ChrfOptions chrf_options{};
  BleuStatistics bleu_statistics{};
  ChrfStatistics chrf_statistics{};

  double bleu() const { return rondo::bleu(bleu_statistics, bleu_options).score; }
  double chrf() const { return rondo::chrf(chrf_statistics); }
};
TranslationScores scores_of(const std::vector<std::string>& translations,
                            const std::vector<std::string>& references, BleuTokenization tokenization);

}  // namespace rondo

// A measurement of a translator, by `lm eval` or at the end of a training: measured, printed, and stored with
// the run in evaluations.jsonl. The metrics: lm/evaluation/translation_evaluation.h.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lm/evaluation/translation_evaluation.h"
#include "lm/program/evaluate.h"
#include "lm/program/run_folder.h"
#include "lm/program/translator.h"

namespace rondo {

struct TranslationMeasurement {
  std::string run, text, split;
  std::int64_t types = 0;  // of the target's vocabulary
  std::string task;        // of a multi-task run; empty: the first one, at the end of its training
  std::int64_t sentences = 0;
  BeamOptions search{};
  Evaluation nats;                          // of the references
  std::optional<TranslationScores> scores;  // none: of a task without a source
  std::int64_t empty = 0;                   // translations
  double seconds = 0;
};

/// Translates a text and scores it. `progress` gets the number of sentences done.
TranslationMeasurement measure(EncoderDecoder& model, const TranslationText& text, const BeamOptions& search,
                               BleuTokenization tokenization,
                               const std::function<void(std::int64_t)>& progress);

/// {"run", "text", "split", "sentences", "beam", ..., "bleu", "chrf", "nats", ...}: the output of
/// `lm eval --json`.
nlohmann::ordered_json json_of(const TranslationMeasurement& it);

/// Appends a measurement to evaluations.jsonl, as keep() of lm/program/measurement.h does.
void keep(const RunFolder& run, const TranslationMeasurement& it, const EncoderDecoder& model,
          const Compute& compute, const std::vector<std::string>& sha256_of_text);

/// Pairs of a run, or of the task that it was opened with.
struct MeasuredPairs {
  TextPair pairs;
  std::vector<std::string> sha256;  // of all files
};
MeasuredPairs pairs_of_split(const OpenTranslator& run, const std::string& folder, Split split);

/// `lm eval` of a translator: prints BLEU, chrF and perplexity on stdout; of a task without a source
/// perplexity alone. Returns 0. InputError for options that only language models have.
int evaluate_translator(const EvaluateOptions& options);

}  // namespace rondo

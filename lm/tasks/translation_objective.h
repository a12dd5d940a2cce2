// The objective of translation: the loss of each next symbol of the target after its true previous symbols
// (teacher forcing); and how well an encoder-decoder translates: the perplexity of reference translations,
// and BLEU and chrF of its own translations. Next: data/sentences/pairs.h,
// nn/models/encoder_decoder.h.
#pragma once

#include <string>
#include <vector>

#include "autograd/operators/arithmetic.h"
#include "data/sentences/pairs.h"
#include "data/text/text.h"
#include "lm/decoding/translate.h"
#include "lm/evaluation/metrics.h"
#include "lm/tasks/sentence_task.h"
#include "nn/models/encoder_decoder.h"

namespace rondo {

/// A metric by which the best weights are chosen: nats per target symbol, BLEU, or chrF.
enum class SelectionMetric { nats, bleu, chrf };
inline std::vector<std::string> names_of(SelectionMetric) { return {"nats", "bleu", "chrf"}; }

struct TranslationOptions {
  PairBatchOptions batches{};
  double label_smoothing = 0;  // autograd/cross_entropy.h
  SelectionMetric decides = SelectionMetric::nats;
  int64_t eval_beam = 1;  // in evaluations during training
  BleuTokenization bleu_tokenization = BleuTokenization::mteval_13a;
};
/// Includes the keys of PairBatchOptions.
inline Keys keys_of(TranslationOptions& it) {
  return joined(
      {keys_of(it.batches),
       {{"label_smoothing", &it.label_smoothing, from_to_below(0, 1), "share of probability",
         "that the training loss spreads evenly over all symbols; evaluations do not"},
        {"decides", choice(it.decides),
         "the metric on the validation text by which the best weights are chosen"},
        {"eval_beam", &it.eval_beam, any_beam(), "hypotheses",
         "of the translations in evaluations during training; 1: greedy"},
        {"bleu_tokenization", choice(it.bleu_tokenization),
         "what BLEU compares: 13a for written text; none for text whose words are separated already"}}});
}
/// Throws InputError for settings out of range.
inline void check_options(const TranslationOptions& options) { check_limits_of(options); }

// --- Evaluation ---

/// Pairs of sentences to evaluate on.
struct TranslationText {
  Pairs pairs{};
  std::vector<std::string> references{};  // the target of each pair as it is written
  const Vocabulary* target = nullptr;     // of the translations
  bool reverse_source = false;            // as in training

  SearchSymbols symbols() const { return {*target->line_end_id(), target->unknown_id()}; }
};

inline std::vector<std::vector<int32_t>> indices_of(const PairBatch& batch) {
  return {batch.source.ids, batch.target.inputs, batch.target.targets};
}
/// -log p of each target symbol of a batch, after its true previous symbols. The ids lie on the model's
/// device, and behind them, where it is to be replayed, what is staged of the lengths of source and target.
inline CrossEntropy nats_of(EncoderDecoder& model, const PairBatch& batch, const std::vector<Tokens>& indices,
                            double smoothing = 0) {
  const int64_t B = batch.source.sentences;
  const auto source = model.encode({indices[0], batch.source.steps, B, {batch.source.lengths, indices, 3}});
  const auto output =
      model.decode({indices[1], batch.target.steps, B, {batch.target.lengths, indices, 7}}, source);
  return model.cross_entropy(output.readout, indices[2], smoothing);
}

/// Nats per target symbol of the references. `progress` gets the number of sentences done. Dropout is off.
/// At most rows_at_once (lm/evaluation/evaluation.h) symbols of source and target are computed at a time, or
/// one pair.
inline Evaluation evaluate_pairs(EncoderDecoder& model, const TranslationText& text,
                                 const ReportDone& progress = {}) {
  const PairBatchOptions options{.order = {.batch = rows_at_once, .by = BatchBy::symbols, .both_sides = true},
                                 .reverse_source = text.reverse_source};
  Evaluation sums;
  sums.seconds = read_batches(model, PairBatches(options, text.pairs, 1), progress, [&](const PairBatch& it) {
    const CrossEntropy nats = nats_of(model, it, tokens_of(indices_of(it)));
    sums.add(it.target.targets, numbers_of(nats), text.target->unknown_id());
  });
  return sums;
}

inline Scores evaluate_on(EncoderDecoder& model, const TranslationText& text, const ReportDone& progress) {
  return scores_of(evaluate_pairs(model, text, progress), "sentences");
}

/// A translation of each source, as UTF-8: U+FFFD stands for a byte that is not.
inline std::vector<std::string> translations(EncoderDecoder& model, const TranslationText& text,
                                             const BeamOptions& options, const ReportDone& progress = {}) {
  std::vector<std::string> lines;
  for (const auto& found :
       translate(model, text.pairs.source, text.reverse_source, text.symbols(), options, progress))
    // Bytes, and the bytes among pieces, can be written in any order; metrics read UTF-8.
    lines.push_back(replace_invalid_utf8(text.target->decode(found.front().ids)));
  return lines;
}

/// BLEU and chrF of translations.
struct TranslationScores {
  double bleu = 0, chrf = 0;
};
inline TranslationScores scores_of(const std::vector<std::string>& translations,
                                   const std::vector<std::string>& references,
                                   BleuTokenization tokenization) {
  check(translations.size() == references.size(), "[scores_of] {} translations of {} references",
        translations.size(), references.size());
  BleuStatistics of_bleu;
  ChrfStatistics of_chrf;
  for (size_t i = 0; i < translations.size(); ++i) {
    const std::string_view reference[] = {references[i]};
    of_bleu += bleu_statistics(translations[i], reference, {.tokenization = tokenization});
    of_chrf += chrf_statistics(translations[i], reference);
  }
  return {bleu(of_bleu).score, chrf(of_chrf)};
}

/// All metrics, the deciding one first.
inline Scores scores_of(SelectionMetric decides, const Evaluation& nats, const TranslationScores& scores,
                        int64_t sentences, int64_t beam, double seconds) {
  const std::vector<std::vector<Metric>> all = {
      text_metrics(nats.nats()), {{"bleu", scores.bleu}}, {{"chrf", scores.chrf}}};
  const auto first = static_cast<std::size_t>(decides);
  Scores result{.metrics = all[first],
                .higher_is_better = decides != SelectionMetric::nats,
                .count = sentences,
                .unit = "sentences",
                .read = search_text(beam),
                .preposition = "by",
                .seconds = seconds};
  if (result.higher_is_better) result.tie_breaker = nats.nats();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i != first) result.metrics.insert(result.metrics.end(), all[i].begin(), all[i].end());
  return result;
}

/// A text as a model translates it, with its scores.
struct TranslatedText {
  std::vector<std::string> lines;
  Evaluation nats;  // of the references
  Scores scores;
};
inline TranslatedText evaluate_translations(EncoderDecoder& model, const TranslationText& text,
                                            const TranslationOptions& options, const BeamOptions& search,
                                            const ReportDone& progress) {
  const auto begin = Clock::now();
  const Evaluation nats = evaluate_pairs(model, text);
  std::vector<std::string> lines = translations(model, text, search, progress);
  const TranslationScores of_lines = scores_of(lines, text.references, options.bleu_tokenization);
  return {std::move(lines), nats,
          scores_of(options.decides, nats, of_lines, text.pairs.size(), search.beam, seconds_since(begin))};
}

/// Probes with the loss of the target's last symbol, its end.
inline Probed probe(EncoderDecoder& model, const Pairs& pairs, bool reverse_source,
                    const ProbeOptions& options, const ReportDone& progress = {}) {
  const PairBatchOptions batches{.order = {.batch = probed_at_once}, .reverse_source = reverse_source};
  return probe_batches(model, "the loss of the last step alone", PairBatches(batches, pairs, 1),
                       evenly(pairs.size(), options.sequences), progress, [&](const PairBatch& it) {
                         std::vector<Tokens> indices = tokens_of(indices_of(it));
                         indices[2] = last_alone(it.target.targets, it.target.lengths);
                         return nats_of(model, it, indices).total;
                       });
}

// --- Objective ---

class Translation : public SentenceObjective<EncoderDecoder, PairBatches, TranslationText> {
 public:
  /// InputErrors of check_options(), too.
  Translation(EncoderDecoder& model, const TranslationOptions& options, const Pairs& train,
              const TranslationText& valid, uint64_t seed = 1)
      : SentenceObjective(model, options.batches, train, valid, seed), options_(options) {
    check_options(options);
  }

  /// All metrics on the validation text, the deciding one first; if that has no references, the nats alone.
  /// `progress` gets the number of sentences done.
  Scores evaluate(const ReportDone& progress = {}) override {
    if (valid_.references.empty()) return SentenceObjective::evaluate();
    BeamOptions options{.beam = options_.eval_beam};
    // There no probability ends a hypothesis, and further steps take the same memory.
    if (!has_memory(model_.device())) options.max_length = 2;
    return evaluate_translations(model_, valid_, options_, options, progress).scores;
  }

 private:
  void make_rectangles(Batch& batch) override {
    if (model_.can_be_recorded()) make_rectangles_of(batch, staged_.source, staged_.target);
  }
  CrossEntropy nats_of_staged(const std::vector<Tokens>& indices) override {
    return nats_of(model_, staged_, indices, options_.label_smoothing);
  }
  std::string limit_of_lengths() const override { return "data.max_length"; }

  TranslationOptions options_;
};

}  // namespace rondo

// How well an encoder-decoder translates.
#include "lm/evaluation/translation_evaluation.h"

#include "data/text.h"
#include "lm/decoding/translate.h"
#include "tensor/clock.h"

namespace rondo {

Evaluation evaluate_pairs(EncoderDecoder& model, const TranslationText& text,
                          const std::function<void(int64_t)>& progress) {
  const EvaluationMode no_dropout(model);
  const NoGradient no_history;
  const auto begin = Clock::now();
  PairBatches batches({.order = {.batch = rows_at_once, .by = BatchBy::symbols, .both_sides = true},
                       .reverse_source = text.reverse_source},
                      text.pairs, 1);
  batches.seek(0, 0);
  Evaluation result;
  int64_t done = 0;
  for (PairBatch batch; batches.next(batch);) {
    const int64_t B = batch.sentences;
    const auto source = model.encode({tokens(batch.source), batch.source_steps, B, batch.source_lengths});
    const auto output =
        model.decode({tokens(batch.inputs), batch.target_steps, B, batch.target_lengths}, source);
    const std::vector<real> each =
        model.cross_entropy(output.readout, tokens(batch.targets)).each.to_vector();
    result.add(batch.targets, {each.begin(), each.end()}, text.target->unknown_id());
    if (progress) progress(done += B);
  }
  result.seconds = seconds_since(begin);
  return result;
}

std::vector<std::string> translations(EncoderDecoder& model, const TranslationText& text,
                                      const BeamOptions& options,
                                      const std::function<void(int64_t)>& progress) {
  std::vector<std::vector<int32_t>> sources;
  for (int64_t i = 0; i < text.pairs.size(); ++i) {
    const auto source = text.pairs.source[i];
    sources.emplace_back(source.begin(), source.end());
  }
  std::vector<std::string> lines;
  for (const auto& found : translate(model, sources, text.reverse_source, text.symbols(), options, progress))
    // Bytes, and the bytes among pieces, can be written in any order; metrics read UTF-8.
    lines.push_back(replace_invalid_utf8(text.target->decode(found.front().ids)));
  return lines;
}

TranslationScores scores_of(const std::vector<std::string>& translations,
                            const std::vector<std::string>& references, BleuTokenization tokenization) {
  check(translations.size() == references.size(), "[scores_of] {} translations of {} references",
        translations.size(), references.size());
  TranslationScores scores{.bleu_options = {.tokenization = tokenization}};
  for (size_t i = 0; i < translations.size(); ++i) {
    const std::string_view reference[] = {references[i]};
    scores.bleu_statistics += bleu_statistics(translations[i], reference, scores.bleu_options);
    scores.chrf_statistics += chrf_statistics(translations[i], reference, scores.chrf_options);
  }
  return scores;
}

}  // namespace rondo

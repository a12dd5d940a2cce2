// How well skip-thought vectors predict, and the vectors.
#include "lm/evaluation/skip_thought_evaluation.h"

#include <algorithm>

#include "tensor/clock.h"

namespace rondo {

SkipModel::Sentences sentences_of(const PaddedSentences& batch, Tokens ids) {
  return {std::move(ids), batch.steps, batch.sentences, batch.lengths};
}

SkipModel::Sentences sentences_of(const ShiftedSentences& batch, Tokens inputs) {
  return {std::move(inputs), batch.steps, std::ssize(batch.lengths), batch.lengths};
}

Evaluation evaluate_triples(SkipThought& model, const Triples& triples,
                            std::optional<std::int32_t> unknown_id,
                            const std::function<void(std::int64_t)>& progress) {
  const EvaluationMode no_dropout(model);
  const NoGradient no_history;
  const auto begin = Clock::now();
  TripleBatches batches({.batch = rows_at_once, .by = BatchBy::symbols, .both_sides = true}, triples, 1);
  batches.seek(0, 0);
  Evaluation result;
  std::int64_t done = 0;
  for (TripleBatch batch; batches.next(batch);) {
    for (const auto& part : model.parts()) {
      const Variable vectors = part->encode(sentences_of(batch.middle, tokens(batch.middle.ids)));
      const auto add = [&](RecurrentStack& decoder, const ShiftedSentences& written) {
        const Variable states = part->decode(decoder, sentences_of(written, tokens(written.inputs)), vectors);
        const std::vector<real> nats = part->cross_entropy(states, tokens(written.targets)).each.to_vector();
        result.add(written.targets, {nats.begin(), nats.end()}, unknown_id);
      };
      add(part->previous, batch.previous);
      add(part->next, batch.next);
    }
    if (progress) progress(done += batch.middle.sentences);
  }
  result.seconds = seconds_since(begin);
  return result;
}

Vectors sentence_vectors(SkipThought& model, const Sentences& sentences, const std::vector<Variable>& tables,
                         const std::function<void(std::int64_t)>& progress) {
  Vectors vectors{.width = model.width()};
  if (sentences.size() == 0) return vectors;
  const EvaluationMode no_dropout(model);
  const NoGradient no_history;
  std::vector<BatchOrder::Lengths> lengths;
  for (std::int64_t i = 0; i < sentences.size(); ++i) lengths.emplace_back(sentences.length(i), 0);
  BatchOrder order({.batch = rows_at_once, .by = BatchBy::symbols}, lengths, 1);
  order.seek(0, 0);
  vectors.numbers.resize(lengths.size() * static_cast<std::size_t>(vectors.width));
  std::int64_t done = 0;
  for (auto batch = order.next(); !batch.empty(); batch = order.next()) {
    std::vector<std::span<const std::int32_t>> some;
    for (const std::int64_t i : batch) some.push_back(sentences[i]);
    const PaddedSentences rows = padded(some);
    const std::vector<real> found =
        model.encode(sentences_of(rows, tokens(rows.ids)), tables).value().to_vector();
    auto from = found.begin();
    for (const std::int64_t i : batch) {
      std::copy(from, from + vectors.width, vectors.numbers.begin() + i * vectors.width);
      from += vectors.width;
    }
    if (progress) progress(done += rows.sentences);
  }
  return vectors;
}

Vectors mean_word_vectors(SkipThought& model, const Sentences& sentences,
                          const std::vector<Variable>& tables) {
  std::vector<std::vector<real>> words;  // of each part
  for (std::size_t i = 0; i < model.parts().size(); ++i)
    words.push_back(
        (tables.empty() ? model.parts()[i]->embedding.weight.variable() : tables.at(i)).value().to_vector());
  const std::int64_t E = model.options().embedding;
  Vectors means{.width = E * std::ssize(words)};
  for (std::int64_t i = 0; i < sentences.size(); ++i) {
    const auto ids = sentences[i].first(sentences[i].size() - 1);
    for (const std::vector<real>& table : words)
      for (std::int64_t e = 0; e < E; ++e) {
        double sum = 0;
        for (const std::int32_t id : ids)
          sum += static_cast<double>(table[static_cast<std::size_t>(id * E + e)]);
        means.numbers.push_back(static_cast<float>(ids.empty() ? 0 : sum / static_cast<double>(ids.size())));
      }
  }
  return means;
}

}  // namespace rondo

// What a sentence classifier predicts, and how well.
#include "lm/evaluation/classification_evaluation.h"

#include <algorithm>
#include <cmath>

#include "autograd/functions.h"
#include "lm/evaluation/evaluation.h"
#include "tensor/clock.h"

namespace rondo {

SentenceClassifier::Input input_of(const PaddedSentences& batch, Tokens ids) {
  return {std::move(ids), batch.steps, batch.sentences, batch.lengths};
}

Scores evaluate_classifier(SentenceClassifier& model, const LabelledSentences& sentences,
                           const std::function<void(std::int64_t)>& progress) {
  const EvaluationMode no_dropout(model);
  const NoGradient no_history;
  const auto begin = Clock::now();
  LabelledBatches batches({.batch = rows_at_once, .by = BatchBy::symbols}, sentences, 1);
  batches.seek(0, 0);
  std::int64_t done = 0, correct = 0;
  double nats = 0;
  for (LabelledBatch batch; batches.next(batch);) {
    const Variable summary = model.summary(input_of(batch.sentences, tokens(batch.sentences.ids)));
    const std::vector<real> logits = model.logits(summary).value().to_vector();
    auto of_sentence = logits.begin();
    for (const std::int32_t label : batch.labels) {
      const auto end = of_sentence + model.classes();
      correct += std::max_element(of_sentence, end) - of_sentence == label;
      of_sentence = end;
    }
    for (const real it : model.cross_entropy(summary, tokens(batch.labels)).each.to_vector())
      nats += static_cast<double>(it);
    done += batch.sentences.sentences;
    if (progress) progress(done);
  }
  const auto count = static_cast<double>(done);
  return {.metrics = {{"accuracy", 100 * static_cast<double>(correct) / count}, {"nats", nats / count}},
          .higher_is_better = true,
          .count = done,
          .unit = "sentences",
          .read = "one pass",
          .preposition = "",
          .seconds = seconds_since(begin),
          .details = {{"correct", correct}, {"classes", model.classes()}}};
}

std::vector<MostProbableClass> most_probable_classes(SentenceClassifier& model, const Sentences& sentences,
                                                     const std::function<void(std::int64_t)>& progress) {
  if (sentences.size() == 0) return {};
  const EvaluationMode no_dropout(model);
  const NoGradient no_history;
  std::vector<BatchOrder::Lengths> lengths;
  for (std::int64_t i = 0; i < sentences.size(); ++i) lengths.emplace_back(sentences.length(i), 0);
  BatchOrder order({.batch = rows_at_once, .by = BatchBy::symbols}, lengths, 1);
  order.seek(0, 0);
  std::vector<MostProbableClass> classes(lengths.size());
  std::int64_t done = 0;
  for (auto batch = order.next(); !batch.empty(); batch = order.next()) {
    std::vector<std::span<const std::int32_t>> some;
    for (const std::int64_t i : batch) some.push_back(sentences[i]);
    const PaddedSentences rows = padded(some);
    const Variable summary = model.summary(input_of(rows, tokens(rows.ids)));
    const std::vector<real> log_p = log_softmax(model.logits(summary)).value().to_vector();
    auto of_sentence = log_p.begin();
    for (const std::int64_t i : batch) {
      const auto best = std::max_element(of_sentence, of_sentence + model.classes());
      classes[static_cast<std::size_t>(i)] = {static_cast<std::int32_t>(best - of_sentence), std::exp(*best)};
      of_sentence += model.classes();
    }
    if (progress) progress(done += std::ssize(batch));
  }
  return classes;
}

}  // namespace rondo

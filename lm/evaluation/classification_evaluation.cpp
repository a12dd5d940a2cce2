// How well a sentence classifier predicts labels.
#include "lm/evaluation/classification_evaluation.h"

#include <algorithm>

#include "lm/evaluation/evaluation.h"
#include "tensor/clock.h"

namespace rondo {

SentenceClassifier::Input input_of(const PaddedSentences& batch, Tokens ids) {
  return {std::move(ids), batch.steps, batch.sentences, batch.lengths};
}

ClassificationScores evaluate_classifier(SentenceClassifier& model, const LabelledSentences& sentences,
                                         const std::function<void(std::int64_t)>& progress) {
  const EvaluationMode no_dropout(model);
  const NoGradient no_history;
  const auto begin = Clock::now();
  LabelledBatches batches({.batch = rows_at_once, .by = BatchBy::symbols}, sentences, 1);
  batches.seek(0, 0);
  ClassificationScores scores;
  for (LabelledBatch batch; batches.next(batch);) {
    const Variable summary = model.summary(input_of(batch.sentences, tokens(batch.sentences.ids)));
    const std::vector<real> logits = model.logits(summary).value().to_vector();
    auto of_sentence = logits.begin();
    for (const std::int32_t label : batch.labels) {
      const auto end = of_sentence + model.classes();
      scores.correct += std::max_element(of_sentence, end) - of_sentence == label;
      of_sentence = end;
    }
    for (const real nats : model.cross_entropy(summary, tokens(batch.labels)).each.to_vector())
      scores.nats_sum += static_cast<double>(nats);
    scores.sentences += batch.sentences.sentences;
    if (progress) progress(scores.sentences);
  }
  scores.seconds = seconds_since(begin);
  return scores;
}

}  // namespace rondo

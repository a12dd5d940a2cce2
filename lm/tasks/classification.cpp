// Classification of sentences as a task.
#include "lm/tasks/classification.h"

#include "autograd/operators/arithmetic.h"

namespace rondo {

Keys keys_of(ClassificationOptions& options) { return keys_of(options.batches); }

Classification::Classification(SentenceClassifier& model, const ClassificationOptions& options,
                               const LabelledSentences& train, const LabelledSentences& valid, uint64_t seed)
    : SentenceTask(LabelledBatches(options.batches, train, seed)), model_(model), valid_(valid) {}

void Classification::stage(Batch& batch) const {
  batch.indices = {staged_.sentences.ids, staged_.labels};
  batch.scored = staged_.share.whole;
}

Loss Classification::loss(int64_t, const std::vector<Tokens>& indices, RandomContext random) {
  begin_update(random);
  const CrossEntropy nats =
      model_.cross_entropy(model_.summary(input_of(staged_.sentences, indices[0])), indices[1]);
  return {nats.total / static_cast<real>(staged_.share.whole), {nats.each}};
}

std::string Classification::remedy_for_memory() const {
  return fmt::format(
      "make train.batch, model.hidden or the longest sentences smaller; the largest batch has {} sentences "
      "of "
      "{} symbols",
      staged_.sentences.sentences, staged_.sentences.steps);
}

Figure Classification::evaluate(const std::function<void(int64_t)>& progress) {
  return figure_of(evaluate_classifier(model_, valid_, progress));
}

Figure figure_of(const ClassificationScores& scores) {
  return {.name = "accuracy",
          .value = scores.accuracy(),
          .higher_is_better = true,
          .count = scores.sentences,
          .counted = "sentences",
          .read = "one pass",
          .preposition = "",
          .seconds = scores.seconds,
          .beside = {{"nats", scores.nats()}}};
}

}  // namespace rondo

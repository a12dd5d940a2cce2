// Classification of sentences as a task: batches of labelled sentences, and the loss of each label. Next:
// data/labelled_batches.h, nn/models/sentence_classifier.h, lm/evaluation/classification_evaluation.h.
#pragma once

#include "lm/evaluation/classification_evaluation.h"
#include "lm/tasks/sentence_task.h"

namespace rondo {

struct ClassificationOptions {
  SentenceBatchOptions batches{};
};
/// The keys of SentenceBatchOptions.
Keys keys_of(ClassificationOptions& options);

class Classification : public SentenceTask<LabelledBatches, LabelledBatch> {
 public:
  /// The model and the sentences must outlive it. The seed determines the order of the batches. InputErrors
  /// of LabelledBatches.
  Classification(SentenceClassifier& model, const ClassificationOptions& options,
                 const LabelledSentences& train, const LabelledSentences& valid, uint64_t seed = 1);

  Module& model() override { return model_; }
  /// The mean over the batch's sentences is minimised.
  Loss loss(int64_t part, const std::vector<Tokens>& indices, RandomContext random) override;
  std::string remedy_for_memory() const override;
  int64_t scored_per_epoch() const override { return batches_.sentences(); }
  std::string scored_items() const override { return "sentences"; }
  /// The accuracy on the validation text, nats beside. `progress` gets the number of sentences done.
  Figure evaluate(const std::function<void(int64_t)>& progress = {}) override;

 private:
  void stage(Batch& batch) const override;

  SentenceClassifier& model_;
  const LabelledSentences& valid_;
};

/// The accuracy, which decides, and nats beside it.
Figure figure_of(const ClassificationScores& scores);

}  // namespace rondo

// Skip-thought vectors as a task: batches of triples of sentences, and the loss of each word of the sentences
// before and after the middle one. Next: data/sentence_triples.h, nn/models/skip_thought.h,
// lm/evaluation/skip_thought_evaluation.h.
#pragma once

#include <string>
#include <vector>

#include "lm/evaluation/skip_thought_evaluation.h"
#include "lm/tasks/sentence_task.h"

namespace rondo {

struct SkipThoughtTaskOptions {
  SentenceBatchOptions batches{};
  // While training, the vectors are measured on the sets of these folders every so many updates; 0: never.
  int64_t sentences_every = 0;
  std::vector<std::string> sentence_sets{};
};
Keys keys_of(SkipThoughtTaskOptions& options);

class SkipThoughtTask : public SentenceTask<TripleBatches, TripleBatch> {
 public:
  /// The model and the triples must outlive it. The seed determines the order of the batches. InputErrors of
  /// TripleBatches.
  SkipThoughtTask(SkipThought& model, const SkipThoughtTaskOptions& options, const Triples& train,
                  const Triples& valid, uint64_t seed = 1);

  Module& model() override { return model_; }
  /// The mean over the symbols of both written sentences is minimised.
  Loss loss(int64_t part, const std::vector<Tokens>& indices, RandomContext random) override;
  std::string remedy_for_memory() const override;
  int64_t scored_per_epoch() const override { return batches_.scored() * parts(); }
  /// Nats per symbol of the validation text. `progress` gets the number of triples done.
  Figure evaluate(const std::function<void(int64_t)>& progress = {}) override;

 private:
  /// Each part of the model is a part of the batch: they share nothing.
  void stage(Batch& batch) const override;
  int64_t parts() const { return std::ssize(model_.parts()); }

  SkipThought& model_;
  const Triples& valid_;
};

Figure figure_of_triples(const Evaluation& evaluation);

}  // namespace rondo

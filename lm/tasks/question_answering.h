// Question answering as a task: cloze questions, and the loss of each answer. Next: data/question_batches.h,
// nn/models/attentive_reader.h, lm/evaluation/answer_evaluation.h.
#pragma once

#include "lm/evaluation/answer_evaluation.h"
#include "lm/tasks/sentence_task.h"

namespace rondo {

struct QuestionAnsweringOptions {
  QuestionBatchOptions batches{};
};
/// The keys of QuestionBatchOptions.
Keys keys_of(QuestionAnsweringOptions& options);

class QuestionAnswering : public SentenceTask<QuestionBatches, QuestionBatch> {
 public:
  /// The model and the questions must outlive it. The seed determines the order of the batches. InputErrors
  /// of QuestionBatches.
  QuestionAnswering(AttentiveReader& model, const QuestionAnsweringOptions& options, const Questions& train,
                    const Questions& valid, uint64_t seed = 1);

  Module& model() override { return model_; }
  /// The mean over the batch's questions is minimised.
  Loss loss(int64_t part, const std::vector<Tokens>& indices, RandomContext random) override;
  std::string remedy_for_memory() const override;
  int64_t scored_per_epoch() const override { return batches_.questions(); }
  std::string scored_items() const override { return "questions"; }
  /// The accuracy on the validation questions, nats beside. `progress` gets the number of questions done.
  Figure evaluate(const std::function<void(int64_t)>& progress = {}) override;

 private:
  void stage(Batch& batch) const override;

  AttentiveReader& model_;
  const Questions& valid_;
};

/// The accuracy, which decides, and nats beside it.
Figure figure_of(const AnswerScores& scores);

}  // namespace rondo

// Question answering as a task.
#include "lm/tasks/question_answering.h"

#include "autograd/operators/arithmetic.h"

namespace rondo {

Keys keys_of(QuestionAnsweringOptions& options) { return keys_of(options.batches); }

QuestionAnswering::QuestionAnswering(AttentiveReader& model, const QuestionAnsweringOptions& options,
                                     const Questions& train, const Questions& valid, uint64_t seed)
    : SentenceTask(QuestionBatches(options.batches, train, seed)), model_(model), valid_(valid) {}

bool QuestionAnswering::next_batch(Batch& batch) {
  if (!batches_.next(batch_)) return false;
  batch.indices = {batch_.documents.ids, batch_.questions.ids, batch_.answers};
  batch.scored = batch_.documents.sentences;
  return true;
}

Loss QuestionAnswering::loss(int64_t, const std::vector<Tokens>& indices, RandomContext random) {
  const PaddedSentences &documents = batch_.documents, &questions = batch_.questions;
  const int64_t B = documents.sentences;
  random.slice = {B, 0, B};
  model_.begin_update(random);
  const AttentiveReader::Output output = model_({indices[0], documents.steps, B, documents.lengths},
                                                {indices[1], questions.steps, B, questions.lengths});
  const CrossEntropy nats = model_.cross_entropy(output.joint, indices[2]);
  return {nats.total / static_cast<real>(B), {nats.each}};
}

Figure QuestionAnswering::evaluate(const std::function<void(int64_t)>& progress) {
  return figure_of(evaluate_reader(model_, valid_, progress));
}

Figure figure_of(const AnswerScores& scores) {
  return {.name = "accuracy",
          .value = scores.accuracy(),
          .higher_is_better = true,
          .count = scores.questions,
          .counted = "questions",
          .read = "one pass",
          .preposition = "",
          .seconds = scores.seconds,
          .beside = {{"nats", scores.nats()}}};
}

}  // namespace rondo

// Question answering as a task.
#include "lm/tasks/question_answering.h"

#include "autograd/operators/arithmetic.h"

namespace rondo {

Keys keys_of(QuestionAnsweringOptions& options) { return keys_of(options.batches); }

QuestionAnswering::QuestionAnswering(AttentiveReader& model, const QuestionAnsweringOptions& options,
                                     const Questions& train, const Questions& valid, uint64_t seed)
    : SentenceTask(QuestionBatches(options.batches, train, seed)), model_(model), valid_(valid) {}

void QuestionAnswering::stage(Batch& batch) const {
  batch.indices = {staged_.documents.ids, staged_.questions.ids, staged_.answers};
  batch.scored = staged_.share.whole;
}

Loss QuestionAnswering::loss(int64_t, const std::vector<Tokens>& indices, RandomContext random) {
  const PaddedSentences &documents = staged_.documents, &questions = staged_.questions;
  const int64_t B = documents.sentences;
  begin_update(random);
  const AttentiveReader::Output output = model_({indices[0], documents.steps, B, documents.lengths},
                                                {indices[1], questions.steps, B, questions.lengths});
  const CrossEntropy nats = model_.cross_entropy(output.joint, indices[2]);
  return {nats.total / static_cast<real>(staged_.share.whole), {nats.each}};
}

std::string QuestionAnswering::remedy_for_memory() const {
  return fmt::format(
      "make train.batch, model.hidden or data.document_words smaller; the largest batch has {} documents of "
      "{} words",
      staged_.documents.sentences, staged_.documents.steps);
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

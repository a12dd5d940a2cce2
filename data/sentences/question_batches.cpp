// Batches of cloze questions.
#include "data/sentences/question_batches.h"

#include <numeric>

#include "data/text/shuffle.h"
#include "tensor/error.h"

namespace rondo {
namespace {

std::vector<BatchOrder::Lengths> lengths_of(const Questions& questions) {
  check_input(questions.size() > 0, "there are no questions");
  std::vector<BatchOrder::Lengths> lengths;
  for (std::int64_t i = 0; i < questions.size(); ++i)
    lengths.emplace_back(questions.documents.length(i), questions.questions.length(i));
  return lengths;
}

}  // namespace

Keys keys_of(QuestionBatchOptions& options) {
  return {{"batch", &options.batch, any_count(), "questions", "of an update"},
          {"renumber_entities",
           &options.renumber,
           {},
           "",
           "give the entities of each question other markers in each epoch"}};
}

QuestionBatches::QuestionBatches(const QuestionBatchOptions& options, const Questions& questions,
                                 std::uint64_t seed)
    : renumber_(options.renumber),
      questions_(questions),
      order_({.batch = options.batch}, lengths_of(questions), seed),
      seed_(seed) {}

void QuestionBatches::seek(std::int64_t epoch, std::int64_t position) {
  order_.seek(epoch, position);
  epoch_ = epoch;
}

std::vector<std::int32_t> QuestionBatches::numbers(std::int64_t question) const {
  std::vector<std::int32_t> order(questions_.markers.size());
  std::iota(order.begin(), order.end(), 0);
  if (renumber_ && epoch_ > 0) {
    std::mt19937_64 random = epoch_generator(seed_, epoch_ * questions_.size() + question);
    shuffle(order, random);
  }
  return order;
}

bool QuestionBatches::next(QuestionBatch& batch) {
  const std::span<const std::int64_t> whole = order_.next();
  if (whole.empty()) return false;
  batch.share = order_.share();
  const std::span<const std::int64_t> chosen = batch.share.of(whole);
  std::vector<std::span<const std::int32_t>> documents, questions;
  for (const std::int64_t i : chosen) {
    documents.push_back(questions_.documents[i]);
    questions.push_back(questions_.questions[i]);
  }
  batch.indices.assign(chosen.begin(), chosen.end());
  batch.documents = padded(documents);
  batch.questions = padded(questions);
  batch.answers.clear();
  for (std::size_t b = 0; b < chosen.size(); ++b) {
    const std::vector<std::int32_t> number = numbers(chosen[b]);
    const auto renumbered = [&](std::int32_t entity) { return number[static_cast<std::size_t>(entity)]; };
    for (PaddedSentences* side : {&batch.documents, &batch.questions})
      for (std::size_t i = b; i < side->ids.size(); i += chosen.size()) {
        const std::int32_t entity = questions_.entity_of[static_cast<std::size_t>(side->ids[i])];
        if (entity >= 0) side->ids[i] = questions_.markers[static_cast<std::size_t>(renumbered(entity))];
      }
    const std::int32_t answer = questions_.answers[static_cast<std::size_t>(chosen[b])];
    batch.answers.push_back(answer < 0 ? -1 : renumbered(answer));
  }
  return true;
}

}  // namespace rondo

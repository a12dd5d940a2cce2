// Batches of cloze questions. Documents of similar length are batched together:
// data/sentences/sentence_batches.h. In each epoch the entities of a question can get other numbers, so that
// a model cannot learn what a number stands for in one question. Read next: nn/models/attentive_reader.h.
#pragma once

#include <cstdint>
#include <vector>

#include "data/sentences/questions.h"
#include "data/sentences/sentence_batches.h"

namespace rondo {

struct QuestionBatchOptions {
  std::int64_t batch = 32;  // questions
  bool renumber = true;     // give the entities of each question other markers in each epoch
};
/// `batch`, `renumber_entities`.
Keys keys_of(QuestionBatchOptions& options);

struct QuestionBatch {
  BatchShare share;                      // of the whole batch
  PaddedSentences documents, questions;  // of B questions
  std::vector<std::int32_t> answers;     // [B]: numbers of entities; -1: one that the vocabulary lacks
  std::vector<std::int64_t> indices;     // [B]: of each question in its text
};

/// The questions of an epoch, each once, in the order of BatchOrder. Holds a view of the questions, which
/// must outlive it.
class QuestionBatches {
 public:
  /// Begins with epoch 1. InputErrors of BatchOrder.
  QuestionBatches(const QuestionBatchOptions& options, const Questions& questions, std::uint64_t seed);

  /// The next batch; false, and no batch, at the end.
  bool next(QuestionBatch& batch);

  /// As BatchOrder::seek(). In epoch 0 no entity gets another number.
  void seek(std::int64_t epoch, std::int64_t position);
  /// As BatchOrder::seek_extreme().
  void seek_extreme(Extreme extreme) { order_.seek_extreme(extreme); }
  /// As BatchOrder::divide().
  void divide(std::int64_t ranks, std::int64_t own) { order_.divide(ranks, own); }
  std::int64_t position() const { return order_.position(); }
  std::int64_t length() const { return order_.length(); }
  std::int64_t questions() const { return questions_.size(); }

 private:
  /// The new number of each entity of a question.
  std::vector<std::int32_t> numbers(std::int64_t question) const;

  bool renumber_;
  const Questions& questions_;
  BatchOrder order_;
  std::uint64_t seed_;
  std::int64_t epoch_ = 1;
};

}  // namespace rondo

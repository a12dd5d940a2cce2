// What a reader answers, and how well, compared with two baselines that do not read: the most frequent
// entity of the document, and the most frequent one that the question does not name (Hermann et al. 2015,
// section 4.1). Next: lm/tasks/question_answering.h.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "data/question_batches.h"
#include "nn/models/attentive_reader.h"

namespace rondo {

/// Of questions whose answer is one of several entities.
struct AnswerScores {
  std::int64_t questions = 0, correct = 0;
  std::int64_t unknown = 0;  // answers that have no row in the vocabulary: not found, and not in nats
  double nats_sum = 0;
  double seconds = 0;

  /// In percent, of all questions.
  double accuracy() const { return 100 * static_cast<double>(correct) / static_cast<double>(questions); }
  /// The mean of -log p(answer); 0 if all answers are unknown.
  double nats() const;
};

/// An answer is correct if it is the most probable of all the entities that the model knows, whether its
/// document names them or not. `progress` gets the number of questions done. Dropout is off, and entities
/// keep their numbers.
AnswerScores evaluate_reader(AttentiveReader& model, const Questions& questions,
                             const std::function<void(std::int64_t)>& progress = {});

struct Answer {
  std::int32_t entity;           // its number
  double probability;            // among all the entities that the model knows
  std::vector<float> attention;  // of each word of the document
};
/// For each question the most probable entity of those that its document names. Dropout is off.
std::vector<Answer> most_probable_answers(AttentiveReader& model, const Questions& questions);

/// The shares in percent of questions that the two baselines answer; of equally frequent entities they take
/// the first.
struct FrequencyBaselines {
  double most_frequent = 0, not_in_question = 0;
};
FrequencyBaselines frequency_baselines(const Questions& questions);

}  // namespace rondo

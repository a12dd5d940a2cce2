// What a reader answers, and how well, compared with two baselines that do not read: the most frequent
// entity of the document, and the most frequent one that the question does not name (Hermann et al. 2015,
// section 4.1). Next: lm/tasks/question_answering.h.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "data/question_batches.h"
#include "lm/evaluation/scores.h"
#include "nn/models/attentive_reader.h"

namespace rondo {

/// Measures the accuracy in percent of all questions, and the mean of -log p(answer) over those whose answer
/// has a row in the vocabulary; the others are not found. An answer is correct if it is the most probable of
/// all the entities that the model knows, whether its document names them or not. The two baselines stand
/// beside. `progress` gets the number of questions done. Dropout is off, and entities keep their numbers.
Scores evaluate_reader(AttentiveReader& model, const Questions& questions,
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

// The sections of a recipe whose task is question answering. Next: lm/program/recipe.h,
// lm/program/question_answering_job.cpp.
#pragma once

#include "lm/tasks/question_answering.h"
#include "nn/models/attentive_reader.h"

namespace rondo {

/// Section [data].
struct QuestionTextOptions {
  QuestionOptions questions{};
  VocabularyLimits limits{};
  Tokenization tokenization{};  // words: not a key
};
Keys keys_of(QuestionTextOptions& options);

struct QuestionAnsweringRecipe {
  QuestionTextOptions data;
  AttentiveReaderOptions model;
  QuestionAnsweringOptions task;  // of section [train]
};

/// InputError if settings contradict each other; `where` begins the text.
void validate(const QuestionAnsweringRecipe& recipe, const std::string& where);

}  // namespace rondo

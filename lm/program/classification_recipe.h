// The sections of a recipe whose task is classification. Next: lm/program/recipe.h,
// lm/program/classification_job.cpp.
#pragma once

#include "data/labelled_sentences.h"
#include "lm/tasks/classification.h"
#include "nn/models/sentence_classifier.h"

namespace rondo {

/// Section [data].
struct LabelledTextOptions {
  LabelledFiles files{};
  Tokenization tokenization{};
  VocabularyLimits limits{};
};
Keys keys_of(LabelledTextOptions& options);

struct ClassificationRecipe {
  LabelledTextOptions data;
  SentenceClassifierOptions model;
  ClassificationOptions task;  // of section [train]
};

/// InputError if settings contradict each other; `where` begins the text.
void validate(const ClassificationRecipe& recipe, const std::string& where);

}  // namespace rondo

// The sections of a recipe whose task is skip-thought. Next: lm/program/recipe.h,
// lm/program/skip_thought_job.cpp.
#pragma once

#include "data/corpus.h"
#include "data/sentence_triples.h"
#include "lm/tasks/skip_thought.h"
#include "nn/models/skip_thought.h"

namespace rondo {

/// Section [data].
struct PassageOptions {
  TripleOptions triples{};
  Tokenization tokenization{};
  VocabularyLimits limits{};
};
Keys keys_of(PassageOptions& options);

struct SkipThoughtRecipe {
  PassageOptions data;
  SkipThoughtOptions model;
  SkipThoughtTaskOptions task;  // of section [train]
};

/// InputError if settings contradict each other; `where` begins the text.
void validate(const SkipThoughtRecipe& recipe, const std::string& where);

/// A text of passages: the files of open_corpus(), each with one sentence a line. The same InputErrors.
CorpusText open_passages(const std::string& path, const PassageOptions& options, Pipes pipes);

}  // namespace rondo

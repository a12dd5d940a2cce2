// The sections of a recipe whose task is translation. Next: lm/program/recipe.h, lm/program/translation_job.cpp.
#pragma once

#include "data/pairs.h"
#include "lm/decoding/beam_search.h"
#include "lm/tasks/translation.h"
#include "nn/models/encoder_decoder.h"

namespace rondo {

/// Section [data].
struct ParallelTextOptions {
  ParallelOptions files{};
  Tokenization tokenization{};
  VocabularyLimits limits{};
  PairOptions pairs{};
};
Keys keys_of(ParallelTextOptions& options);

struct TranslationRecipe {
  ParallelTextOptions data;
  EncoderDecoderOptions model;
  TranslationOptions task;  // of section [train]
  BeamOptions decoding;     // of `lm translate`, `lm eval` and final figures
};

/// InputError if settings contradict each other; `where` begins the text.
void validate(const TranslationRecipe& recipe, const std::string& where);

}  // namespace rondo

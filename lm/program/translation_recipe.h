// The sections of a recipe whose task is translation. Next: lm/program/recipe.h,
// lm/program/translation_job.cpp.
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
  double pairs_share = 1;  // of the training pairs, from the beginning
};
Keys keys_of(ParallelTextOptions& options);

/// A share of the lines of a training text, from its beginning; at least one.
TextPair first_lines(const TextPair& text, double share);

struct TranslationRecipe {
  ParallelTextOptions data;
  EncoderDecoderOptions model;
  TranslationOptions task;  // of section [train]
  BeamOptions decoding;     // of `lm translate`, `lm eval` and final figures
};

/// InputError if settings contradict each other; `where` begins the text.
void validate(const TranslationRecipe& recipe, const std::string& where);

}  // namespace rondo

// The sections of a recipe whose task is speech recognition. Next: lm/program/recipe.h,
// lm/program/speech_job.cpp.
#pragma once

#include "data/utterances.h"
#include "lm/tasks/speech.h"
#include "nn/models/ctc_model.h"

namespace rondo {

/// Section [data].
struct SpeechDataOptions {
  SpeechOptions corpus{};
  FrameOptions frames{};
};
Keys keys_of(SpeechDataOptions& options);

struct SpeechRecipe {
  SpeechDataOptions data;
  CtcModelOptions model;
  SpeechTaskOptions task;          // of section [train]
  SpeechDecodingOptions decoding;  // of `lm transcribe`, `lm eval` and final figures
  // Not keys: transcripts are characters, and all that occur are kept.
  Tokenization tokenization{.unit = Unit::characters};
  VocabularyLimits limits{};
};

/// InputError if settings contradict each other; `where` begins the text.
void validate(const SpeechRecipe& recipe, const std::string& where);

}  // namespace rondo

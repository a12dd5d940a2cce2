// The figures of a trained translator, at the end of the training of a job that has one. Those of `lm eval`:
// lm/program/translation_measurement.h.
#pragma once

#include <optional>

#include "lm/program/job.h"
#include "lm/program/translator.h"

namespace rondo {

/// Measures, shows and records the figures of a translator on its validation and test text.
void measure_translator(EncoderDecoder& model, const TranslationRecipe& recipe, const TranslationText& valid,
                        const std::optional<TranslationText>& test, Watch& watch, const Setup& setup,
                        const Compute& compute);

}  // namespace rondo

// The sections of a recipe whose task is speech recognition.
#include "lm/program/speech_recipe.h"

#include "lm/program/check_section.h"
#include "nn/cells/catalogue.h"

namespace rondo {

Keys keys_of(SpeechDataOptions& it) { return joined({keys_of(it.corpus), keys_of(it.frames)}); }

void validate(const SpeechRecipe& recipe, const std::string& where) {
  check_section(where, "data", recipe.data.corpus);
  check_section(where, "data", recipe.data.frames);
  check_section(where, "", recipe.model);
  check_rows_at_once(where, traits_of(recipe.model.cell).looks_across_rows, "train.batch",
                     recipe.task.batches.batch);
  check_section(where, "decoding", recipe.decoding);
}

}  // namespace rondo

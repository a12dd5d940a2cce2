// The sections of a recipe whose task is classification.
#include "lm/program/classification_recipe.h"

#include "lm/program/check_section.h"
#include "nn/cells/catalogue.h"

namespace rondo {

Keys keys_of(LabelledTextOptions& it) {
  return joined({keys_of(it.files), keys_of(it.tokenization), keys_of(it.limits)});
}

void validate(const ClassificationRecipe& recipe, const std::string& where) {
  check_section(where, "data", recipe.data.files);
  check_section(where, "data", recipe.data.tokenization);
  check_section(where, "data", recipe.data.limits);
  check_section(where, "", recipe.model);
  check_rows_at_once(where, traits_of(recipe.model.cell).looks_across_rows, "train.batch",
                     recipe.task.batches.batch);
  check_input(
      recipe.data.tokenization.unit != Unit::bytes || recipe.data.files.encoding == Encoding::utf8,
      "{}: data.encoding = \"{}\" is for words and characters; bytes are read as they are: leave it out",
      where, name_of(recipe.data.files.encoding));
}

}  // namespace rondo

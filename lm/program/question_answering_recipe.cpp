// The sections of a recipe whose task is question answering.
#include "lm/program/question_answering_recipe.h"

#include "lm/program/check_section.h"

namespace rondo {

Keys keys_of(QuestionTextOptions& it) { return joined({keys_of(it.questions), keys_of(it.limits)}); }

void validate(const QuestionAnsweringRecipe& recipe, const std::string& where) {
  check_section(where, "data", recipe.data.limits);
  check_section(where, "", recipe.model);
  check_rows_at_once(where, looks_across_rows(recipe.model), "train.batch", recipe.task.batches.batch);
}

}  // namespace rondo

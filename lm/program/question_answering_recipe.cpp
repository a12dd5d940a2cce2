// The sections of a recipe whose task is question answering.
#include "lm/program/question_answering_recipe.h"

#include "lm/program/check_section.h"

namespace rondo {

Keys keys_of(QuestionTextOptions& it) { return joined({keys_of(it.questions), keys_of(it.limits)}); }

void validate(const QuestionAnsweringRecipe& recipe, const std::string& where) {
  check_section(where, "data", recipe.data.limits);
  check_section(where, "", recipe.model);
  check_input(
      !looks_across_rows(recipe.model) || recipe.task.batches.batch > 1,
      "{}: train.batch = {}: batch normalisation (model.cell = \"{}\", model.batch_norm_attention = {}) "
      "takes statistics over the questions of a batch: set it to 2 or more",
      where, recipe.task.batches.batch, recipe.model.cell, recipe.model.batch_norm_attention);
}

}  // namespace rondo

// The sections of a recipe: see recipe.h. What must hold between them: recipe_validation.h.
#include "lm/program/recipe.h"

namespace rondo {

Keys keys_of(Recipe& recipe) {
  LanguageModellingOptions& task = recipe.task;
  const Keys title = {
      {"name", &recipe.name, {}, "", "the name of the recipe; runs are called runs/NAME-N"},
      {"description", &recipe.description, any_text(), "", "one line for `lm recipes`"},
      {"paper", &recipe.paper, any_text(), "", "where the settings come from: paper, table, row"},
  };
  return joined({
      section("recipe", title),
      section("published", keys_of(recipe.published)),
      section("data",
              joined({keys_of(recipe.data), keys_of(task.batches.batching), keys_of(task.evaluated_as)})),
      section("model", keys_of(recipe.model)),
      section("train", joined({keys_of(recipe.trainer), keys_of(task), keys_of(recipe.run)})),
      section("finetune", keys_of(recipe.finetune)),
      section("report", keys_of(recipe.report)),
      section("dynamic", keys_of(recipe.dynamic)),
      section("cache", keys_of(recipe.cache)),
  });
}

}  // namespace rondo

// The sections of a recipe: see recipe.h. What must hold between them: recipe_validation.h.
#include "lm/program/recipe.h"

#include "lm/program/toml.h"

namespace rondo {
namespace {

Keys title_keys(Recipe& recipe) {
  return section("recipe",
                 {{"name", &recipe.name, {}, "", "the name of the recipe; runs are called runs/NAME-N"},
                  {"description", &recipe.description, any_text(), "", "one line for `lm recipes`"},
                  {"paper", &recipe.paper, any_text(), "", "where the settings come from: paper, table, row"},
                  {"task", choice(recipe.kind), {}, "", "what is trained; other keys depend on it"}});
}

Keys language_modelling_keys(Recipe& recipe) {
  LanguageModellingOptions& task = recipe.task;
  return joined({
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

Keys translation_keys(Recipe& recipe) {
  TranslationRecipe& it = recipe.translation;
  return joined({
      section("data", keys_of(it.data)),
      section("model", keys_of(it.model)),
      section("train", joined({keys_of(recipe.trainer), keys_of(it.task), keys_of(recipe.run)})),
      section("decoding", keys_of(it.decoding)),
  });
}

Keys classification_keys(Recipe& recipe) {
  ClassificationRecipe& it = recipe.classification;
  return joined({
      section("data", keys_of(it.data)),
      section("model", keys_of(it.model)),
      section("train", joined({keys_of(recipe.trainer), keys_of(it.task), keys_of(recipe.run)})),
  });
}

Keys task_keys(Recipe& recipe) {
  switch (recipe.kind) {
    case TaskKind::translation:
      return translation_keys(recipe);
    case TaskKind::classification:
      return classification_keys(recipe);
    default:
      return language_modelling_keys(recipe);
  }
}

}  // namespace

Keys keys_of(Recipe& recipe) { return joined({title_keys(recipe), task_keys(recipe)}); }

void read_recipe(Recipe& recipe, const std::string& text, const std::string& where, const Keys& others) {
  read_toml(text, where, title_keys(recipe), OtherKeys::ignored);
  read_toml(text, where, joined({keys_of(recipe), others}));
}

}  // namespace rondo

// Where recipes come from: the ones built into the program (lm/program/recipes/*.toml), files, and the
// command line. Their contents: recipe.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lm/program/recipe.h"

namespace rondo {

/// A built-in recipe: its name and the text of its file.
struct BuiltInRecipe {
  std::string_view name, text;
};
std::vector<BuiltInRecipe> built_in_recipes();

/// The recipe that `name_or_file` names: a built-in one, or a TOML file (also a run's config.toml). A recipe
/// without recipe.name gets the name of its file. InputErrors: no such recipe (naming the nearest), bad file,
/// bad value.
Recipe load_recipe(const std::string& name_or_file);

/// The recipe of a run: loads the recipe, applies `settings` in order, so that the last one wins, and calls
/// validate(). Files that it names are absolute, so that a later command finds them from any folder.
Recipe resolve_recipe(const std::string& name_or_file, const std::vector<Setting>& settings);
/// If the settings, which have been applied, say after how many epochs the training ends, it does not end
/// after the steps that the recipe had before; but settings of train.steps come first.
void let_given_epochs_end(Recipe& recipe, const std::vector<Setting>& settings);

}  // namespace rondo

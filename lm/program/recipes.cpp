// Built-in recipes and the way from a name to a checked Recipe: see recipes.h.
#include "lm/program/recipes.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "data/text.h"
#include "lm/program/embedded_files.h"
#include "lm/program/nearest.h"
#include "lm/program/paths.h"
#include "lm/program/provenance.h"
#include "lm/program/run_folder.h"
#include "lm/program/shell_command.h"
#include "lm/program/toml.h"
#include "tensor/error.h"

namespace rondo {
namespace {

/// Reads a recipe's text; `where` names it in errors. [made_by] is allowed, so that a run's config.toml is a
/// recipe too.
Recipe read_recipe(const std::string& text, const std::string& where) {
  Recipe recipe;
  Provenance ignored;
  read_recipe(recipe, text, where, section("made_by", keys_of(ignored)));
  return recipe;
}

}  // namespace

std::vector<BuiltInRecipe> built_in_recipes() {
  std::vector<BuiltInRecipe> recipes;
  for (const char* at = rondo_recipes; *at != '\0';) {
    const std::string_view name = at, text = at + name.size() + 1;
    recipes.push_back({name, text});
    at = text.data() + text.size() + 1;
  }
  return recipes;
}

Recipe load_recipe(const std::string& name_or_file) {
  std::vector<std::string> names;
  for (const auto& [name, text] : built_in_recipes()) {
    if (name == name_or_file) return read_recipe(std::string(text), fmt::format("recipe {}", name));
    names.emplace_back(name);
  }
  const std::filesystem::path path = name_or_file;
  check_input(!std::filesystem::exists(path / RunFolder().config()),
              "--recipe {}: it is a run; its recipe is {}", name_or_file,
              (path / RunFolder().config()).string());
  const bool is_file = path.has_parent_path() || path.extension() == ".toml";
  check_input(is_file,
              "no recipe named '{}'{} (to name a file, write a path with a '/', or one that ends in .toml)",
              name_or_file,
              did_you_mean(name_or_file, names, fmt::format("; `{} recipes` lists them", this_program())));
  Recipe recipe = read_recipe(read_file(path, max_toml_bytes), name_or_file);
  if (recipe.name.empty()) recipe.name = path.stem().string();
  return recipe;
}

void let_given_epochs_end(Recipe& recipe, const std::vector<Setting>& settings) {
  const auto sets = [&](const std::string& key) {
    return std::any_of(settings.begin(), settings.end(), [&](const Setting& it) { return it.key == key; });
  };
  if (sets("train.epochs") && !sets("train.steps")) recipe.trainer.steps = 0;
}

Recipe resolve_recipe(const std::string& name_or_file, const std::vector<Setting>& settings) {
  Recipe recipe = load_recipe(name_or_file);
  for (const Setting& setting : settings) {
    check_input(setting.key != "recipe.task", "{}: the task is the recipe's; choose another recipe",
                setting.where);
    apply_setting(setting, keys_of(recipe));
  }
  let_given_epochs_end(recipe, settings);
  check_input(!recipe.name.empty() && recipe.name.find_first_of("/`") == std::string::npos &&
                  recipe.name == printable(recipe.name),  // it may come from a file's name
              "{}: recipe.name = '{}': expected a name in UTF-8 without '/', '`' and control characters",
              name_or_file, recipe.name);
  for (const NamedFile& it : recipe.task->named_files())
    if (!it.path->empty()) *it.path = absolute_path(*it.path).string();
  validate(recipe, name_or_file);
  return recipe;
}

}  // namespace rondo

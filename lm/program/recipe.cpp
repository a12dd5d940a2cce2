// The sections of a recipe: see recipe.h.
#include "lm/program/recipe.h"

#include "lm/program/toml.h"

namespace rondo {
namespace {

constexpr std::string_view part_section = "tasks.";

Keys title_keys(Recipe& recipe) {
  std::vector<std::string> tasks;
  for (const RegisteredTask& it : registered_tasks()) tasks.push_back(it.name);
  return section(
      "recipe", {{"name", &recipe.name, {}, "", "the name of the recipe; runs are called runs/NAME-N"},
                 {"description", &recipe.description, any_text(), "", "one line for `lm recipes`"},
                 {"paper", &recipe.paper, any_text(), "", "where the settings come from: paper, table, row"},
                 {"task", &recipe.task_name, one_of(tasks), "", "what is trained; other keys depend on it"}});
}

/// Keys that only earlier versions had: their runs have them still, and must load. Their values are ignored:
/// no trained model depends on them.
Keys retired_keys(bool& unread) {
  return {{"model.persistent_kernel", &unread}};  // a GPU computed all steps of a layer in one launch
}

}  // namespace

Keys keys_of(Recipe& recipe) {
  Sections task = recipe.task->sections();
  const bool models_language = recipe.language_modelling();
  return joined({
      title_keys(recipe),
      models_language ? section("published", keys_of(recipe.published)) : Keys(),
      section("data", std::move(task.data)),
      section("model", std::move(task.model)),
      section("train", joined({keys_of(recipe.trainer), std::move(task.train), keys_of(recipe.run)})),
      models_language
          ? joined({section("finetune", keys_of(recipe.finetune)), section("report", keys_of(recipe.report))})
          : Keys(),
      std::move(task.others),
  });
}

void read_recipe(Recipe& recipe, const std::string& text, const std::string& where, const Keys& others) {
  read_toml(text, where, title_keys(recipe), OtherKeys::ignored);
  recipe.set_task(recipe.task_name);
  bool is_of_run = false, unread = false;
  for (const TomlSection& it : parse_toml(text, where)) {
    const auto& [line, column] = it.position;
    check_input(it.name != "tasks", "{}:{}:{}: each task has a section of its own: [tasks.NAME]", where, line,
                column);
    if (it.name.starts_with(part_section))
      check_input(recipe.task->add_part(it.name.substr(part_section.size())),
                  "{}:{}:{}: tasks are for recipe.task = \"multi_task\", and here it is \"{}\"", where, line,
                  column, recipe.task_name);
    is_of_run |= it.name == "made_by";
  }
  read_toml(text, where, joined({keys_of(recipe), others, is_of_run ? retired_keys(unread) : Keys()}));
}

void validate(const Recipe& recipe, const std::string& where) {
  check_section(where, "train", recipe.trainer);
  recipe.task->check(where);
}

}  // namespace rondo

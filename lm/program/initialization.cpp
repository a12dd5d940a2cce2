// The settings of a training that begins with another run's weights.
#include "lm/program/initialization.h"

#include <algorithm>

#include "data/input_file.h"
#include "lm/program/paths.h"
#include "lm/program/recipes.h"
#include "lm/program/shell_command.h"

namespace rondo {
namespace {

/// InputError unless a training that begins with a run's weights and vocabulary may change this key.
void check_may_change(const Setting& setting, Recipe& recipe) {
  const Keys keys = keys_of(recipe);
  const std::string& key = setting.key;
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const Key& it) { return it.name == key; });
  Tokenization tokenization;
  VocabularyLimits limits;
  const Keys of_symbols = section("data", joined({keys_of(tokenization), keys_of(limits)}));
  check_input(
      std::none_of(of_symbols.begin(), of_symbols.end(), [&](const Key& it) { return it.name == key; }) &&
          !key.starts_with("recipe.") && !key.starts_with("data.vocabulary"),
      "{}: cannot change with --init-from; the vocabulary is that of its run", setting.where);
  check_input(!key.starts_with("model.") || (found != keys.end() && found->training_only),
              "{}: cannot change with --init-from; the model is that of its run, but for its dropout",
              setting.where);
}

}  // namespace

RunConfig initialization_from(const std::string& base, const std::vector<Setting>& settings) {
  const RunFolder run = open_run_folder(base);
  RunConfig config = read_config(run);
  Recipe& recipe = config.recipe;
  const std::string why = recipe.task->belongs_to_data();
  check_input(why.empty(), "--init-from {}: a run of the task {}, which cannot begin on other data: {}",
              run.path.string(), recipe.task_name, why);
  check_input(file_is_there(run.model()), "--init-from {}: holds no model yet; train it first: {}",
              run.path.string(), resume_command(run.path));
  if (recipe.language_modelling()) recipe.language_model().data.files.clear();  // patterns of the base's text
  for (const Setting& setting : settings) {
    apply_setting(setting, keys_of(recipe));  // first, as it knows what is no key at all
    check_may_change(setting, recipe);
  }
  let_given_epochs_end(recipe, settings);
  recipe.published = {};  // figures of the paper's training
  validate(recipe, base);
  Provenance made_by;
  made_by.initialized_from = absolute_path(run.path).string();
  made_by.unknown_is_trained = config.made_by.unknown_is_trained;
  config.made_by = made_by;
  return config;
}

}  // namespace rondo

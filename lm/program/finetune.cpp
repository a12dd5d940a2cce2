// The settings of a finetuning.
#include "lm/program/finetune.h"

#include <algorithm>

#include "data/input_file.h"
#include "lm/program/paths.h"
#include "lm/program/published.h"
#include "lm/program/shell_command.h"
#include "lm/training/checkpoint.h"
#include "lm/training/trainer.h"

namespace rondo {
namespace {

void check_finished(const RunFolder& run, const RunConfig& config) {
  const Recipe& recipe = config.recipe;
  const bool is_imported = !config.made_by.imported_from.empty() && config.made_by.finetuned_from.empty();
  const std::string folder = run.path.string();
  check_input(recipe.language_modelling(), "{}: a run of the task {}, and finetuning is for language models",
              folder, recipe.task_name);
  const std::string remedy = resume_command(run.path);
  check_input(file_is_there(run.model()), "{}: holds no model to finetune yet; train it first: {}", folder,
              remedy);
  if (is_imported || (file_is_there(run.state()) && is_finished(recipe.trainer, run.state()))) return;
  int64_t epoch = 1;
  if (file_is_there(run.state())) StateFile(run.state()).read("epoch", epoch, 1);
  throw InputError(
      fmt::format("{}: its training is not finished; finish it first: {}{}", folder, remedy,
                  recipe.trainer.steps > 0
                      ? ""
                      : fmt::format("; or let it end with epoch {}, which has begun: {}", epoch,
                                    resume_command(run.path, {"--epochs", fmt::format("{}", epoch)}))));
}

/// What a finetuning changes in the recipe of its base: averaged SGD at a constant rate.
void change(Recipe& recipe, const std::string& base) {
  TrainerOptions& trainer = recipe.trainer;
  const OptimizerOptions before = trainer.optimizer;
  const std::optional<double> rate = recipe.finetune.learning_rate;
  check_input(rate || before.kind == OptimizerKind::sgd,
              "{}: the run was trained with {}, whose rate does not suit the SGD of finetuning: give one, as "
              "in --set "
              "finetune.learning_rate=1",
              base, name_of(before.kind));
  trainer.epochs = recipe.finetune.epochs;
  trainer.optimizer = {.kind = OptimizerKind::sgd,
                       .learning_rate = rate ? rate : before.learning_rate,
                       .weight_decay = before.weight_decay};
  trainer.schedule = {};
  trainer.averaging = Averaging::always;
  trainer.early_stopping = 0;
  trainer.non_monotonic_stopping = true;
  recipe.published.trained = recipe.published.finetuned;
}

/// InputError unless a finetuning of a trained model may change this key.
void check_may_change(const Setting& setting, const std::vector<Key>& keys) {
  const std::string& key = setting.key;
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const Key& it) { return it.name == key; });
  const bool training_only = found != keys.end() && found->training_only;
  check_input(!key.starts_with("data.") && !key.starts_with("recipe."),
              "{}: cannot change in a finetuning; the model knows the symbols of its run", setting.where);
  check_input(!key.starts_with("model.") || training_only,
              "{}: cannot change in a finetuning; the model is that of its run, but for its dropout",
              setting.where);
  for (const std::string name : {"learning_rate", "epochs"})
    check_input(key != "train." + name, "{}: cannot change in a finetuning; set finetune.{}", setting.where,
                name);
  check_input(!is_decided_by_finetuning(key),
              "{}: cannot change in a finetuning, which is averaged SGD at a constant rate until validation "
              "no longer falls",
              setting.where);
}

}  // namespace

bool is_decided_by_finetuning(const std::string& key) {
  OptimizerOptions optimizer;
  ScheduleOptions schedule;
  const Keys whole = section("train", joined({keys_of(optimizer), keys_of(schedule)}));
  const auto is_it = [&](const Key& it) { return it.name == key; };
  return (std::any_of(whole.begin(), whole.end(), is_it) && key != "train.weight_decay") ||
         key == "train.epochs" || key == "train.averaging" || key == "train.early_stopping" ||
         key == "train.non_monotonic_stopping";
}

RunConfig finetuning_of(const std::string& base, const std::vector<Setting>& settings) {
  const RunFolder run = open_run_folder(base);
  RunConfig config = read_config(run);
  check_finished(run, config);
  config.recipe.trainer.steps = 0;  // of the base's training
  const std::vector<Key> keys = keys_of(config.recipe);
  for (const Setting& setting : settings) {
    apply_setting(setting, keys);  // first, as it knows what is no key at all
    check_may_change(setting, keys);
  }
  if (!changed_keys(config.recipe, false).empty()) config.recipe.published = {};  // of another base
  change(config.recipe, base);
  validate(config.recipe, base);
  config.made_by.finetuned_from = absolute_path(run.path).string();
  return config;
}

}  // namespace rondo

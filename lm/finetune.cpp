// What a finetuning is.
#include "lm/finetune.h"

#include "lm/training.h"

namespace rondo {
namespace {

void check_finished(const RunFolder& run, const Recipe& recipe) {
  const std::string folder = run.path.string();
  const std::string remedy = resume_command(run);
  check_input(std::filesystem::exists(run.model()), "{}: holds no model to finetune yet; train it first: {}",
              folder, remedy);
  check_input(std::filesystem::exists(run.state()) && is_finished(recipe, run.state()),
              "{}: its training is not finished; finish it first: {}", folder, remedy);
}

/// What a finetuning changes in the recipe of its base.
void change(Recipe& recipe, const std::string& base) {
  Recipe::Train& train = recipe.train;
  check_input(recipe.finetune.learning_rate > 0 || train.optimizer == "sgd",
              "{}: finetuning is done with SGD, and {} has another scale: give a rate, as in --set "
              "finetune.learning_rate=1",
              base, train.optimizer);
  if (recipe.finetune.learning_rate > 0) train.learning_rate = recipe.finetune.learning_rate;
  train.optimizer = "sgd";
  train.momentum = 0;
  train.schedule = "constant";
  train.decay_at.clear();
  train.averaging = "always";
  train.epochs = recipe.finetune.epochs;
  train.early_stopping = 0;
  train.non_monotonic_stopping = true;
  recipe.published.trained = recipe.published.finetuned;
}

}  // namespace

RunConfig finetuning_of(const std::string& base, const std::vector<Setting>& settings) {
  const RunFolder run = open_run_folder(base);
  RunConfig config = read_config(run);
  check_finished(run, config.recipe);
  const std::vector<Key> keys = keys_of(config.recipe);
  const auto apply = [&](const auto& which) {
    for (const Setting& setting : settings)
      if (which(setting.key)) apply_setting(setting, keys);
  };
  const auto of_finetune = [](const std::string& key) { return key.starts_with("finetune."); };
  for (const Setting& setting : settings)
    check_input(!setting.key.starts_with("data.") && !setting.key.starts_with("recipe."),
                "{}: cannot change in a finetuning; the model knows the symbols of its run", setting.where);
  apply(of_finetune);
  change(config.recipe, base);
  apply([&](const std::string& key) { return !of_finetune(key); });
  validate(config.recipe, base);
  config.made_by.finetuned_from = std::filesystem::absolute(run.path).lexically_normal().string();
  return config;
}

}  // namespace rondo

// `lm train` and `lm finetune`: their options. The training: lm/commands/training.h.
#include <limits>

#include "lm/commands/options.h"
#include "lm/commands/training.h"
#include "lm/program/cli.h"

namespace rondo {

namespace {

/// The options that `train` and `finetune` share, and what becomes settings: these are texts, because the
/// recipe reads them.
struct TrainingWords {
  TrainOptions train;
  std::string epochs, steps, seed;
};

void add_training(CLI::App& to, TrainingWords& words) {
  add_steps(to, words.steps);
  add_value(to, "--max-minutes", words.train.max_minutes, "M",
            in_range(std::numeric_limits<double>::min(), 1e9, "a number above 0"),
            "end after this many minutes: save the state, evaluate, keep the best model; --resume continues");
  to.add_flag("--quiet", words.train.quiet,
              "print nothing but the run's folder at the end, warnings and errors");
  add_device(to, words.train);
}

/// Returns the options of a training; `section` of its recipe has the epochs. The named flags come after
/// every --set, so that they win.
TrainOptions training_options(const TrainingWords& words, const std::string& section,
                              const CommandLine& line) {
  TrainOptions train = words.train;
  const auto add = [&](const std::string& flag, const std::string& key, const std::string& value) {
    if (!value.empty()) train.settings.push_back({flag + " " + value, key, value});
  };
  add("--epochs", section + ".epochs", words.epochs);
  add("--steps", "train.steps", words.steps);
  add("--seed", "train.seed", words.seed);
  train.command = shell_command(line.words);
  return train;
}

/// InputError for settings that a resumed run cannot change.
void check_resumed(const TrainOptions& train) {
  for (const Setting& setting : train.settings)
    check_input(
        setting.key == "train.epochs" || setting.key == "train.steps",
        "{}: cannot change in a resumed run; only --epochs, --steps, --max-minutes, --device, --precision, "
        "--threads and --data may; to begin a new run with its best weights: {}",
        setting.where,
        command_with({"train", "--init-from", train.out, "--data", "FILE", "--set",
                      setting.key + "=" + setting.value}));
}

}  // namespace

// --- Train ---

Command add_train(CommandLine& line) {
  const auto words = std::make_shared<TrainingWords>();
  TrainOptions& options = words->train;
  CLI::App& app =
      add_command(line, "train", "train a model", "lm train --recipe char-lstm --data book.txt --epochs 5");
  CLI::Option* recipe =
      add_text(app, "--recipe", options.recipe, "NAME|FILE", "a name from `lm recipes`, or a TOML file");
  add_text(app, "--data", options.data, "DIR|FILE", data_text);
  CLI::Option* out =
      add_text(app, "--out", options.out, "RUN", "the run folder to make (default: runs/RECIPE-N)");
  CLI::Option* init_from =
      add_text(app, "--init-from", options.init_from, "RUN",
               "begin with the best weights of this run, on the text of --data: its settings, its "
               "vocabulary, not its text; in place of --recipe")
          ->excludes(recipe);
  add_text(app, "--epochs", words->epochs, "N", "times to read the training text (default: the recipe's)");
  add_text(app, "--seed", words->seed, "N", "of weights and dropout (default: the recipe's, else 1)");
  add_settings(app, options.settings,
               "any setting of the recipe, can be repeated; `lm info --keys --recipe NAME` lists them");
  add_training(app, *words);
  app.add_flag("--resume", options.resume,
               "continue the run at --out; only --epochs, --steps, --max-minutes, --device, --precision, "
               "--threads and where --data lies may change")
      ->needs(out)
      ->excludes(recipe)
      ->excludes(init_from);
  return {&app, [words, &line] {
            const TrainOptions train = training_options(*words, "train", line);
            check_input(train.resume || !train.recipe.empty() || !train.init_from.empty(),
                        "train: no recipe given; `{} recipes` lists them, as in --recipe char-lstm; to "
                        "continue a run, --out RUN --resume",
                        this_program());
            if (train.resume) check_resumed(train);
            return rondo::train(train);
          }};
}

// --- Finetuning ---

Command add_finetune(CommandLine& line) {
  const auto words = std::make_shared<TrainingWords>();
  TrainOptions& options = words->train;
  CLI::App& app = add_command(
      line, "finetune", "train the best model of a finished run further on its own text, by averaged SGD",
      "lm finetune runs/awd-lstm-ptb-1 --epochs 50",
      "Averaged SGD at a constant rate, until validation no longer falls (Merity et al. 2018). The result is "
      "a run of its own, never worse on valid; lm train --out RUN --resume resumes one that was "
      "interrupted.");
  add_run(app, "run", options.base, "the folder of the finished run");
  add_text(app, "--out", options.out, "RUN", "the run folder to make (default: runs/RECIPE-finetuned-N)");
  add_text(app, "--epochs", words->epochs, "N",
           "times to read the training text, at most (default: the recipe's finetune.epochs)");
  add_text(app, "--data", options.data, "DIR|FILE", "where the run's text lies now, if it has moved");
  add_settings(app, options.settings, "a setting, can be repeated, as in --set finetune.learning_rate=10");
  add_training(app, *words);
  return {&app, [words, &line] { return train(training_options(*words, "finetune", line)); }};
}

}  // namespace rondo

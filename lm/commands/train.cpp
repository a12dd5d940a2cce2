// `lm train` and `lm finetune`: their options. The training: lm/commands/training.h.
#include "data/input_file.h"
#include "lm/commands/options.h"
#include "lm/commands/training.h"
#include "lm/program/cli.h"
#include "lm/program/run.h"

namespace rondo {

// --- Train ---

namespace {

/// InputError unless the options of a new training, or of one that is resumed, go together.
void check_training(const TrainOptions& train) {
  if (!train.resume && !train.init_from.empty()) {
    check_input(train.recipe.empty(), "train --init-from: leave out --recipe; the run has its own");
    return;
  }
  if (!train.resume) {
    check_input(!train.recipe.empty() || train.out.empty() || !file_is_there(RunFolder{train.out}.config()),
                "train: {} holds a run; to continue it: {}", train.out, resume_command(train.out));
    check_input(!train.recipe.empty(),
                "train: no recipe given; `{} recipes` lists them, as in --recipe char-lstm", this_program());
    return;
  }
  check_input(train.init_from.empty(),
              "train --resume: leave out --init-from; the run knows what it began with");
  check_input(!train.out.empty(), "train --resume: which run? As in: {}", resume_command("runs/char-lstm-1"));
  check_input(train.recipe.empty(), "train --resume: leave out --recipe; the run knows its own");
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

Command add_train(CommandLine& line) {
  const auto words = std::make_shared<TrainingWords>();
  TrainOptions& options = words->train;
  CLI::App& app =
      add_command(line, "train", "train a model", "lm train --recipe char-lstm --data book.txt --epochs 5");
  add_text(app, "--recipe", options.recipe, "NAME|FILE", "a name from `lm recipes`, or a TOML file");
  add_text(app, "--data", options.data, "DIR|FILE", data_text);
  add_text(app, "--out", options.out, "RUN", "the run folder to make (default: runs/RECIPE-N)");
  add_text(app, "--init-from", options.init_from, "RUN",
           "begin with the best weights of this run, on the text of --data: its settings, its vocabulary, "
           "not its text; in place of --recipe");
  add_text(app, "--epochs", words->epochs, "N", "times to read the training text (default: the recipe's)");
  add_text(app, "--seed", words->seed, "N", "of weights and dropout (default: the recipe's, else 1)");
  add_list(app, "--set", words->sets, "KEY=VALUE",
           "any setting of the recipe, can be repeated; `lm info --keys --recipe NAME` lists them");
  add_training(app, *words);
  app.add_flag("--resume", options.resume,
               "continue the run at --out; only --epochs, --steps, --max-minutes, --device, --precision, "
               "--threads and where --data lies may change");
  return {&app, [words, &line] {
            const TrainOptions train = training_options(*words, "train", line);
            check_training(train);
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
      "This is averaged SGD at a constant rate on the same text, until validation no longer "
      "falls (Merity et al. 2018). To train on another text: lm train --init-from RUN --data "
      "NEW.\n\n"
      "The result is a run of its own, never worse on valid than the run it starts from. It "
      "stops by itself; lm train --out RUN --resume resumes one that was interrupted.");
  app.add_option("run", options.base, "the folder of the finished run")->type_name("RUN");
  add_text(app, "--out", options.out, "RUN", "the run folder to make (default: runs/RECIPE-finetuned-N)");
  add_text(app, "--epochs", words->epochs, "N",
           "times to read the training text, at most (default: the recipe's finetune.epochs)");
  add_text(app, "--data", options.data, "DIR|FILE", "where the run's text lies now, if it has moved");
  add_list(app, "--set", words->sets, "KEY=VALUE",
           "a setting, can be repeated, as in --set finetune.learning_rate=10");
  add_training(app, *words);
  return {&app, [words, &app, &line] {
            check_run_given(app, words->train.base);
            return train(training_options(*words, "finetune", line));
          }};
}

}  // namespace rondo

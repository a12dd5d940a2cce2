// `lm finetune`: its options. It is a training with other settings (lm/program/finetune.h) and given weights.
#include "lm/commands/options.h"

namespace rondo {

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

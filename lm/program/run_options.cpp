// The keys of the program's settings around a training.
#include "lm/program/run_options.h"

namespace rondo {

Keys keys_of(RunOptions& options) {
  return {
      {"eval_every", &options.eval_every, at_least(0), "steps",
       "between evaluations, besides the one after each epoch; 0: only that one"},
      {"log_every", &options.log_every, any_count(), "steps", "between lines of log.jsonl"},
      {"probe_every", &options.probe_every, at_least(0), "epochs",
       "between looks into the recurrent layers, which log.jsonl keeps, the first one before the training: "
       "see `lm probe`; 0: none"},
      {"save_every", &options.save_every, at_least(0), "minutes",
       "between saved states, besides the one after each evaluation; 0: only that one"},
      {"tensorboard",
       &options.tensorboard,
       {},
       "",
       "write what log.jsonl has for TensorBoard, too: tensorboard --logdir runs"},
  };
}

Keys keys_of(ReportOptions& options) {
  return {
      {"ngrams",
       &options.ngrams,
       {},
       "",
       "after training, print the cross-entropy of n-gram models beside the model's: Kneser-Ney of order 5, "
       "bigram and unigram (add 0.1)"},
      {"sample", &options.sample, at_least(0), "symbols", "to sample and print after training"},
  };
}

Keys keys_of(FinetuneOptions& options) {
  return {
      {"learning_rate", OptionalMember{&options.learning_rate, 0}, at_least(0), "",
       "of the averaged SGD of `lm finetune`; 0: train.learning_rate, if train.optimizer is sgd"},
      {"epochs", &options.epochs, any_count(), "epochs",
       "maximum for `lm finetune`, which train.non_monotonic_stopping ends earlier"},
  };
}

}  // namespace rondo

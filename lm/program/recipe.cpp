// The table of all settings: see recipe.h. What must hold between them: recipe_validation.h.
#include "lm/program/recipe.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "optim/optimizer.h"
#include "optim/schedule.h"
#include "tensor/error.h"

namespace rondo {

std::vector<Key> keys_of(Recipe& recipe) {
  auto& [name, description, paper, published, data, model, train, finetune, report, dynamic, cache] = recipe;
  const Limits any{};
  // Far beyond any use, but small enough that their products do not overflow.
  const Limits width = between(1, 1'000'000), count = between(1, 1'000'000'000);
  Keys before = {
      {"recipe.name", &name, any, "", "the name of the recipe; runs are called runs/NAME-N"},
      {"recipe.description", &description, any_text(), "", "one line for `lm recipes`"},
      {"recipe.paper", &paper, any_text(), "", "where the settings come from: paper, table, row"},

      {"published.valid", &published.trained.valid, at_least(0), "",
       "the paper's figure on valid.txt; 0: none"},
      {"published.test", &published.trained.test, at_least(0), "", "the paper's figure on test.txt; 0: none"},
      {"published.unit", &published.unit, one_of({"perplexity", "bits", "nats"}), "",
       "the unit of the published figures; bits and nats are per symbol"},
      {"published.finetuned_valid", &published.finetuned.valid, at_least(0), "",
       "the same as published.valid, of the model that `lm finetune` makes"},
      {"published.finetuned_test", &published.finetuned.test, at_least(0), "", "the same on test.txt"},
      {"published.dynamic_valid", &published.dynamic.valid, at_least(0), "",
       "the same as published.valid, with dynamic evaluation of the paper's best model"},
      {"published.dynamic_test", &published.dynamic.test, at_least(0), "", "the same on test.txt"},
      {"published.cache_valid", &published.cache.valid, at_least(0), "",
       "the same as published.valid, with a neural cache over the paper's best model"},
      {"published.cache_test", &published.cache.test, at_least(0), "", "the same on test.txt"},
      {"published.vocabulary", &published.vocabulary, at_least(0), "symbols",
       "types of the paper's text; a text with other ones is another, and no published figure stands beside "
       "its own; 0: not known"},
      {"published.test_symbols", &published.test_symbols, at_least(0), "symbols",
       "the same, of the length of the paper's test text"},

      {"data.unit", &data.unit, one_of({"words", "characters", "bytes"}), "", "what a symbol is"},
      {"data.batching", &data.batching, one_of({"streams", "lines", "crops"}), "",
       "what lies side by side in a batch: streams, whose state is carried on; lines; or crops of "
       "train.length symbols from a random offset; these two in random order and each from a zero state"},
      {"data.evaluated_as", &data.evaluated_as, one_of({"batching", "stream"}), "",
       "how valid.txt and test.txt are read: as data.batching has it (streams; lines; or sequences of "
       "train.length), or in any case with the state carried on"},
      {"data.vocabulary", &data.vocabulary, one_of({"train", "all"}), "",
       "whose symbols have a row: train.txt's; or those of train.txt, valid.txt and test.txt, in this order, "
       "as in the code of AWD-LSTM: it peeks at the words of the test text, so that none is unknown"},
      {"data.min_count", &data.min_count, at_least(1), "occurrences",
       "rarer symbols of the texts of data.vocabulary become <unk>"},
      {"data.max_size", &data.max_size, at_least(0), "symbols", "keep the most frequent only; 0: keep all"},
      {"data.unknown", &data.unknown, any, "",
       "a row for symbols that train.txt lacks, even if it has none itself; false: such a symbol is refused"},
      {"data.strip_lines", &data.strip_lines, any, "", "remove spaces at both ends of each line"},
      {"data.files", &data.files, any, "",
       "train on the files of the data folder that match these patterns, in place of train.txt and "
       "valid.txt"},
      {"data.block_lines", &data.block_lines, at_least(1), "lines",
       "with data.files: every tenth block of so many lines is held out for validation"},
  };
  Keys after = {
      {"train.seed", &train.seed, at_least(0), "", "of the initial weights and of dropout"},
      {"train.epochs", &train.epochs, count, "epochs", "times to read the training text"},
      {"train.batch", &train.batch, width, "streams", "pieces of the text that are read side by side"},
      {"train.length", &train.length, width, "symbols",
       "steps of truncated back-propagation; a line is never cut"},
      {"train.length_deviation", &train.length_deviation, between(0, 1'000'000), "symbols",
       "each chunk has a length of its own, normally distributed with this deviation around train.length (in "
       "1 of 20 around half of it), at least 5 and at most train.length and 4 deviations; where the loss is "
       "a "
       "mean, the learning rate of its step is in proportion to it; 0: all have train.length"},
      {"train.reset_every", &train.reset_every, at_least(0), "steps",
       "after which the state that streams carry on is zeroed, counted over all epochs, each of which begins "
       "from zeros as well (Chung et al. 2015: 100); evaluations carry theirs on; 0: only between epochs"},
      {"train.micro_batch", &train.micro_batch, at_least(0), "streams",
       "computed at once, a divisor of the batch: less memory, same result (but in the bn_ cells); 0: the "
       "whole batch"},
      {"train.loss", &train.loss, one_of({"mean", "sum_over_time"}), "",
       "mean over all symbols, or sum over time and mean over the batch: scales gradients, hence clip"},
      {"train.optimizer", &train.optimizer, one_of(optimizer_names()), "", "how weights are updated"},
      {"train.learning_rate", &train.learning_rate, at_least(0), "", "0: the optimizer's own default"},
      {"train.momentum", &train.momentum, from_to_below(0, 1), "", "of sgd"},
      {"train.weight_decay", &train.weight_decay, at_least(0), "", "L2 penalty; adamw: decoupled"},
      {"train.clip", &train.clip, at_least(0), "", "largest norm of all gradients together; 0: no clipping"},
      {"train.activation_regularization", &train.activation_regularization, at_least(0), "",
       "factor of the mean square of the last recurrent layer's output after dropout, added to the loss but "
       "not to the logged one (AR)"},
      {"train.temporal_regularization", &train.temporal_regularization, at_least(0), "",
       "the same, of the mean squared difference of its output, before dropout, from step to step (TAR)"},
      {"train.averaging", &train.averaging, one_of({"never", "non_monotonic", "always"}), "",
       "evaluate and keep the average of the weights after each step, while training goes on from the "
       "weights "
       "themselves: never; from the evaluation on whose loss is above the lowest of all but the last "
       "averaging_interval; or always, which begins after the first step: the initial weights are no part "
       "of it. With sgd that is NT-ASGD and ASGD"},
      {"train.averaging_interval", &train.averaging_interval, count, "evaluations",
       "the last so many do not count for non_monotonic and non_monotonic_stopping"},
      {"train.schedule", &train.schedule, one_of(schedule_names()), "",
       "when the learning rate is multiplied by decay: never, every decay_every epochs, each epoch after the "
       "decay_after-th, after each epoch of decay_at, or when validation stops improving"},
      {"train.decay", &train.decay, between(0, 1), "", "factor of the learning rate"},
      {"train.decay_after", &train.decay_after, at_least(0), "epochs", "trained before decay_after begins"},
      {"train.decay_at", &train.decay_at, count, "epochs", "after which milestones decays"},
      {"train.decay_every", &train.decay_every, at_least(1), "epochs", "between decays of step"},
      {"train.patience", &train.patience, at_least(0), "evaluations",
       "without improvement that plateau lets pass before it decays"},
      {"train.early_stopping", &train.early_stopping, at_least(0), "evaluations",
       "without improvement that end the training; 0: never"},
      {"train.non_monotonic_stopping", &train.non_monotonic_stopping, any, "",
       "end the training at an evaluation that would start non_monotonic averaging"},
      {"train.eval_every", &train.eval_every, at_least(0), "steps",
       "between evaluations, besides the one after each epoch; 0: only that one"},
      {"train.eval_streams", &train.eval_streams, width, "streams",
       "pieces that evaluations during training read side by side: more is faster, 1 is exact; lines and "
       "sequences from a zero state are exact always"},
      {"train.final_streams", &train.final_streams, width, "streams",
       "the same of `lm eval`, and of the figures of valid.txt and test.txt at the end of the training"},
      {"train.log_every", &train.log_every, count, "steps", "between lines of log.jsonl"},
      {"train.save_every", &train.save_every, at_least(0), "minutes",
       "between saved states, besides the one after each evaluation; 0: only that one"},

      {"finetune.learning_rate", &finetune.learning_rate, at_least(0), "",
       "of the averaged SGD of `lm finetune`; 0: train.learning_rate, if train.optimizer is sgd"},
      {"finetune.epochs", &finetune.epochs, count, "epochs",
       "most of `lm finetune`, which ends earlier by train.non_monotonic_stopping"},

      {"report.ngrams", &report.ngrams, any, "",
       "after training, print the cross-entropy of n-gram models beside the model's: Kneser-Ney of order 5, "
       "bigram and unigram (add 0.1)"},
      {"report.sample", &report.sample, at_least(0), "symbols",
       "after training, print so many sampled symbols"},

      {"dynamic.learning_rate", &dynamic.learning_rate, at_least(0), "",
       "of lm eval --dynamic, of a gradient divided by its root mean square over the training text"},
      {"dynamic.decay", &dynamic.decay, at_least(0), "",
       "lambda: the share of its way back to the trained value that a weight goes at each update, where its "
       "gradient's root mean square is the average one"},
      {"dynamic.epsilon", &dynamic.epsilon, at_least(1e-20), "",
       "added to the root mean square that divides the gradient"},
      {"dynamic.length", &dynamic.length, width, "symbols", "between updates, also of the statistics"},
      {"dynamic.statistics_streams", &dynamic.statistics_streams, width, "streams",
       "pieces of the training text that are read side by side for the statistics"},
      {"dynamic.style", &dynamic.style, one_of({"new", "old"}), "",
       "old: settings meant for sums of squares over batches, and over tensors, in place of means, as the "
       "paper's are; converted"},

      {"cache.window", &cache.window, count, "symbols", "that the neural cache of lm eval --cache remembers"},
      {"cache.theta", &cache.theta, at_least(0), "",
       "how much the cache prefers states that are like the present one; 0: not at all"},
      {"cache.lambda", &cache.lambda, between(0, 1), "", "the cache's share of the probability"},
  };
  return joined({before, section("model", keys_of(model)), after});
}

std::vector<Key> keys_of(Provenance& made_by) {
  return {
      {"made_by.version", &made_by.version, {}, "", "of the program"},
      {"made_by.command", &made_by.command, any_text(), "", "what was typed"},
      {"made_by.device", &made_by.device, one_of({"cpu", "cuda"}), "", "where it was computed"},
      {"made_by.precision", &made_by.precision, one_of({"fp32", "tf32", "bf16"}), "",
       "in which a GPU multiplied"},
      {"made_by.threads", &made_by.threads, at_least(0), "threads", "that computed"},
      {"made_by.data", &made_by.data, any_text(), "", "where the text is; a resumed run reads it again"},
      {"made_by.sha256", &made_by.sha256, any_text(), "", "of each file of the text, as sha256sum prints"},
      {"made_by.vocabulary", &made_by.vocabulary, {}, "", "SHA-256 of vocab.txt"},
      {"made_by.finetuned_from", &made_by.finetuned_from, any_text(), "",
       "the run whose best model this one began with; empty: none"},
  };
}

}  // namespace rondo

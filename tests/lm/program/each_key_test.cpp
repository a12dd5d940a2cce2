// Each key of a recipe reaches what it configures: for each there is a value, other than the default, that
// changes what a command does. A recipe contains the structs that the code reads, so that what can go wrong
// is a member that no code reads; hence whole commands are run, and what they print of a setting itself is
// left out of what is compared.
#include "tests/lm/program/each_key.h"

namespace rondo {
namespace {

EachKey::Cases language_model_cases() {
  const EachKey::Probe compared = &EachKey::compared, described = &EachKey::described,
                       finetuned = &EachKey::finetuned, adapted = &EachKey::adapted;
  const std::string sgd = "train.optimizer=sgd", files = "data.files=[\"train.txt\"]";
  const Words published = {"published.valid=5", "published.test=5"};
  // Evaluations whose loss rises now and then.
  const Words restless = {"train.eval_every=1", "train.learning_rate=0.5"};
  const auto restless_and = [&](Words more) {
    more.insert(more.end(), restless.begin(), restless.end());
    return more;
  };
  const Words finetuning = {sgd, "finetune.epochs=2", "train.epochs=1"};
  return {
      {"recipe.name", {"other", {}, described}},
      {"recipe.description", {"other", {}, described}},
      {"recipe.task", {"translation", {}, described, "recipe.task"}},
      {"recipe.paper", {"other", {}, described}},

      {"published.valid", {"7", {}, compared}},
      {"published.test", {"7", {}, compared}},
      {"published.unit", {"bits", published, compared}},
      {"published.finetuned_valid", {"7", {}, compared}},
      {"published.finetuned_test", {"7", {}, compared}},
      {"published.dynamic_valid", {"7", {}, compared}},
      {"published.dynamic_test", {"7", {}, compared}},
      {"published.cache_valid", {"7", {}, compared}},
      {"published.cache_test", {"7", {}, compared}},
      {"published.vocabulary", {"11", published, compared}},
      {"published.test_symbols", {"50", published, compared}},

      {"data.unit", {"characters"}},
      {"data.strip_lines", {"true", {"data.unit=characters"}}},
      {"data.pieces_model", {"bpe", {"data.unit=pieces", "data.pieces=250"}}},
      {"data.pieces", {"252", {"data.unit=pieces", "data.pieces=250"}}},
      {"data.vocabulary", {"all"}},
      {"data.vocabulary_file", {RONDO_SOURCE_DIR "/tests/lm/program/words.txt"}},
      {"data.min_count", {"2"}},
      {"data.max_size", {"6"}},
      {"data.unknown", {"false", {}, &EachKey::trained, "'new'"}},
      {"data.train_files", {"[\"valid.txt\"]"}},
      {"data.files", {"[\"train.txt\"]", {"data.block_lines=10"}}},
      {"data.block_lines", {"5", {files, "data.block_lines=10"}}},
      {"data.memory", {"0"}},  // where the ids are is told
      {"data.batching", {"lines"}},
      {"data.evaluated_as", {"stream", {"data.batching=lines"}}},

      {"train.seed", {"2"}},
      {"train.epochs", {"3"}},
      {"train.steps", {"3"}},
      {"train.clip", {"0.1", {sgd}}},
      {"train.weight_noise", {"0.1"}},
      {"train.averaging", {"always"}},
      {"train.averaging_interval", {"100", restless_and({"train.averaging=non_monotonic"})}},
      {"train.early_stopping", {"1", restless}},
      {"train.non_monotonic_stopping", {"true", restless}},
      {"train.optimizer", {"rmsprop"}},
      {"train.learning_rate", {"0.01"}},
      {"train.momentum", {"0.9", {sgd}}},
      {"train.beta1", {"0.5"}},
      {"train.beta2", {"0.5"}},
      {"train.epsilon", {"0.1"}},
      {"train.alpha", {"0.5", {"train.optimizer=rmsprop"}}},
      {"train.initial_squares", {"0.5", {"train.optimizer=adagrad"}}},
      {"train.weight_decay", {"0.1"}},
      {"train.schedule", {"step"}},
      {"train.decay", {"0.1", {"train.schedule=step"}}},
      {"train.decay_after", {"1", {"train.schedule=decay_after"}}},
      {"train.decay_at", {"[2]", {"train.schedule=milestones", "train.decay_at=[1]"}}},
      {"train.decay_every", {"2", {"train.schedule=step"}}},
      {"train.patience", {"1", restless_and({"train.schedule=plateau"})}},
      {"train.batch", {"4"}},
      {"train.length", {"7"}},
      {"train.length_deviation", {"2"}},
      {"train.reset_every", {"1"}},
      {"train.micro_batch", {"4", {"model.cell=bn_lstm"}}},  // elsewhere the result is the same
      {"train.loss", {"sum_over_time"}},
      {"train.activation_regularization", {"2"}},
      {"train.temporal_regularization", {"2"}},
      {"train.eval_streams", {"2"}},
      {"train.final_streams", {"2"}},
      {"train.eval_every", {"5"}},
      {"train.log_every", {"3"}},
      {"train.probe_every", {"1"}},
      {"train.save_every", {"1e-9", {"train.save_every=0"}}},

      {"finetune.learning_rate", {"0.5", finetuning, finetuned}},
      {"finetune.epochs", {"1", finetuning, finetuned}},

      {"report.ngrams", {"true"}},
      {"report.sample", {"20"}},

      {"dynamic.learning_rate", {"0.001", {}, adapted}},
      {"dynamic.decay", {"0.1", {}, adapted}},
      {"dynamic.epsilon", {"0.1", {}, adapted}},
      {"dynamic.length", {"3", {}, adapted}},
      {"dynamic.statistics_streams", {"10", {}, adapted}},
      {"dynamic.style", {"old", {}, adapted}},

      {"cache.window", {"5", {}, adapted}},
      {"cache.theta", {"0.3", {}, adapted}},
      {"cache.lambda", {"0.5", {}, adapted}},
  };
}

/// Section [model], without what only some cells have.
EachKey::Cases cases_of_model() {
  const Words minor = {"model.major_ratio=0.5", "model.layers=2"};
  return {
      {"model.cell", {"gru"}},
      {"model.layers", {"2"}},
      {"model.embedding", {"5"}},
      {"model.embedding_file", {RONDO_SOURCE_DIR "/tests/lm/program/vectors.txt"}},
      {"model.hidden", {"5"}},
      {"model.major_ratio", {"0.5"}},
      {"model.minor_input", {"previous_layer", minor}},
      {"model.bidirectional", {"true", {}, &EachKey::trained, "bidirectional"}},
      {"model.output_layers", {"[5]"}},
      {"model.output_activation", {"identity", {"model.output_layers=[5]"}}},
      {"model.experts", {"2"}},
      {"model.latent_dropout", {"0.5", {"model.experts=2"}}},
      {"model.output", {"adaptive", {"model.hidden=16"}}},
      {"model.cutoffs", {"[2, 5]", {"model.hidden=16", "model.output=adaptive"}}},
      {"model.cluster_divisor", {"2", {"model.hidden=16", "model.output=adaptive"}}},
      {"model.tied", {"true"}},
      {"model.dropout", {"0.5"}},
      {"model.input_dropout", {"0.5"}},
      {"model.hidden_dropout", {"0.5", {"model.layers=2"}}},
      {"model.output_dropout", {"0.5"}},
      {"model.variational", {"true", {"model.dropout=0.3"}}},
      {"model.embedding_dropout", {"0.5"}},
      {"model.weight_drop", {"0.5"}},
      {"model.recurrent_dropout", {"0.5"}},
      {"model.zoneout", {"0.5"}},
      {"model.zoneout_memory", {"0.5"}},
      {"model.input_init", {"uniform"}},
      {"model.input_range", {"0.5", {"model.input_init=uniform"}}},
      {"model.recurrent_init", {"orthogonal"}},
      {"model.recurrent_range", {"0.5", {"model.recurrent_init=normal"}}},
      {"model.output_init", {"log_normal"}},
      {"model.output_range", {"0.5", {"model.output_init=uniform"}}},
      {"model.embedding_init", {"normal"}},
      {"model.embedding_range", {"0.5"}},
      {"model.init_all", {"0.05"}},
      {"model.trained_initial_states", {"true"}},
      {"model.biases", {"1"}},
      {"model.forget_bias", {"1"}},
  };
}

TEST_F(EachKey, ShowsInWhatACommandDoes) {
  Cases known = language_model_cases();
  known.merge(cases_of_model());
  known.merge(EachKey::cases_of_cells(&EachKey::trained));
  expect_each_shows("language_modelling", std::move(known));
}

// Without which the test above would say nothing.
TEST_F(EachKey, NothingElseShows) {
  for (const Probe probe :
       {&EachKey::trained, &EachKey::finetuned, &EachKey::adapted, &EachKey::described, &EachKey::compared}) {
    const Words settings = {"train.optimizer=sgd", "finetune.epochs=1"};
    const Case it{"", {}, probe};
    const Words of_evaluation = {"cache.theta=1"};
    const Words& used = probe == Probe(&EachKey::adapted) ? of_evaluation : settings;
    EXPECT_EQ(shown(it, used), shown(it, used));
    EXPECT_FALSE(shown(it, used).starts_with("refused")) << shown(it, used);
  }
}

}  // namespace
}  // namespace rondo

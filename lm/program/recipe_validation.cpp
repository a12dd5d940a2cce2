// Whether the settings of a recipe go together.
#include "lm/program/recipe_validation.h"

#include <algorithm>
#include <iterator>

#include "lm/program/model.h"
#include "nn/cells/catalogue.h"

namespace rondo {

void validate(const Recipe& recipe, const std::string& where) {
  const auto& data = recipe.data;
  const auto& model = recipe.model;
  const auto& train = recipe.train;
  check_input(!data.strip_lines || data.unit != "words",
              "{}: data.strip_lines = true changes nothing for data.unit = \"words\": leave it out", where);
  check_input(data.max_size != 1, "{}: data.max_size = 1 keeps one symbol: nothing to predict; 0 keeps all",
              where);
  const std::int64_t widths = std::ssize(model.hidden), ratios = std::ssize(model.major_ratio);
  check_input(widths == 1 || widths == model.layers,
              "{}: model.hidden has {} widths for {} layers: give one for each, or one for all", where,
              widths, model.layers);
  check_input(ratios == 1 || ratios == model.layers,
              "{}: model.major_ratio has {} shares for {} layers: give one for each, or one for all", where,
              ratios, model.layers);
  const std::int64_t last = model.output_layers.empty() ? model.hidden.back() : model.output_layers.back();
  check_input(!model.tied || model.embedding > 0,
              "{}: model.tied = true needs an embedding: set model.embedding, or model.tied = false", where);
  check_input(!model.tied || model.experts > 1 || model.embedding == last,
              "{}: model.tied = true needs model.embedding ({}) as wide as the layer before the output ({}, "
              "from {}): set model.embedding = {} or model.tied = false",
              where, model.embedding, last,
              model.output_layers.empty() ? "model.hidden" : "model.output_layers", last);
  const LanguageModelOptions defaults;
  const std::int64_t at_once = train.micro_batch > 0 ? train.micro_batch : train.batch;
  check_input(
      !traits_of(model.cell).looks_across_rows || at_once > 1,
      "{}: model.cell = \"{}\" takes statistics over the streams that are computed at once, here one: "
      "set {} to 2 or more",
      where, model.cell, train.micro_batch > 0 ? "train.micro_batch" : "train.batch");
  check_input(model.minor_input == defaults.minor_input || model.major_ratio != defaults.major_ratio,
              "{}: model.minor_input = \"{}\", but there is no minor cell: set model.major_ratio, as in 0.9",
              where, name_of(model.minor_input));
  check_input(
      model.output_activation == defaults.output_activation || !model.output_layers.empty(),
      "{}: model.output_activation = \"{}\", but there is no layer to have it: set model.output_layers, as "
      "in [650]",
      where, name_of(model.output_activation));
  const double rates[] = {model.dropout, model.input_dropout.value_or(0), model.hidden_dropout.value_or(0),
                          model.output_dropout.value_or(0), model.latent_dropout};
  check_input(!model.variational ||
                  std::any_of(std::begin(rates), std::end(rates), [](double rate) { return rate > 0; }),
              "{}: model.variational = true says how model.dropout drops, which is 0, as are those for its "
              "parts: set one, or leave this out",
              where);
  const auto is_default = [](const InitialValues& it) { return it.kind == InitialValues::Kind::pytorch; };
  check_input(
      model.init_all == 0 ||
          (is_default(model.input_init) && is_default(model.recurrent_init) && is_default(model.output_init)),
      "{}: model.init_all = {} sets every parameter: leave out model.input_init, model.recurrent_init and "
      "model.output_init, or set model.init_all = 0",
      where, model.init_all);
  check_input(train.micro_batch == 0 || train.batch % train.micro_batch == 0,
              "{}: train.micro_batch = {} does not divide train.batch = {}: set train.micro_batch to a "
              "divisor, or to 0",
              where, train.micro_batch, train.batch);
  check_input(train.momentum == 0 || train.optimizer == "sgd",
              "{}: train.momentum = {} is for train.optimizer = \"sgd\", not \"{}\": set it to 0", where,
              train.momentum, train.optimizer);
  const auto only_with_streams = [&](const char* key, double value) {
    check_input(value == 0 || data.batching == "streams",
                "{}: train.{} = {} is for data.batching = \"streams\", not \"{}\": set it to 0", where, key,
                value, data.batching);
  };
  only_with_streams("length_deviation", train.length_deviation);
  only_with_streams("reset_every", static_cast<double>(train.reset_every));
  only_with_streams("activation_regularization", train.activation_regularization);
  only_with_streams("temporal_regularization", train.temporal_regularization);
  check_input(train.averaging != "non_monotonic" || !train.non_monotonic_stopping,
              "{}: train.averaging = \"non_monotonic\" would start where train.non_monotonic_stopping ends: "
              "leave one of them out",
              where);
  check_input((train.schedule == "milestones") == !train.decay_at.empty(),
              "{}: train.decay_at and train.schedule = \"milestones\" belong together: set both, or neither",
              where);
  check_input(
      train.optimizer == "sgd" || train.learning_rate <= 1,
      "{}: train.learning_rate = {} with {}, which moves each weight by about that much in each step: "
      "training would diverge; give 1 or less (30 is a rate for sgd, with clipping)",
      where, train.learning_rate, train.optimizer);
  try {
    check_options(model_options(recipe));
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", where, error.what()));
  }
}

}  // namespace rondo

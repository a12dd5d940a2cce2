// Whether the settings of a recipe go together.
#include "lm/program/recipe_validation.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "lm/program/model.h"

namespace rondo {
namespace {

/// What the options refuse by themselves; their keys are those of a section.
template <class Options>
void check_section(const std::string& where, const std::string& section, const Options& options) {
  try {
    check_options(options);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}.{}", where, section, error.what()));
  }
}

}  // namespace

void validate(const Recipe& recipe, const std::string& where) {
  const TextOptions& data = recipe.data;
  const auto& model = recipe.model;
  const LanguageModellingOptions& task = recipe.task;
  check_section(where, "data", data.tokenization);
  check_section(where, "data", data.limits);
  const std::int64_t widths = std::ssize(model.hidden), ratios = std::ssize(model.major_ratio);
  check_input(widths == 1 || widths == model.layers,
              "{}: model.hidden has {} widths for {} layers: give one for each, or one for all", where,
              widths, model.layers);
  check_input(ratios == 1 || ratios == model.layers,
              "{}: model.major_ratio has {} shares for {} layers: give one for each, or one for all", where,
              ratios, model.layers);
  const std::int64_t last = model.output_layers.empty() ? model.hidden.back() : model.output_layers.back();
  check_input(
      model.intermediate != 0,
      "{}: model.intermediate = 0 leaves no way from the past to the gates; -1 takes the width of the "
      "layer's input",
      where);
  check_input(!model.tied || model.embedding > 0,
              "{}: model.tied = true needs an embedding: set model.embedding, or model.tied = false", where);
  check_input(!model.tied || model.experts > 1 || model.embedding == last,
              "{}: model.tied = true needs model.embedding ({}) as wide as the layer before the output ({}, "
              "from {}): set model.embedding = {} or model.tied = false",
              where, model.embedding, last,
              model.output_layers.empty() ? "model.hidden" : "model.output_layers", last);
  const auto only_for = [&](bool CellUses::*setting, const std::string& key, bool given) {
    check_input(!given || uses_of(model.cell).*setting,
                "{}: model.{} is for {}; model.cell = \"{}\" has nothing of the kind: leave it out", where,
                key, fmt::join(cells_that_use(setting), ", "), model.cell);
  };
  const Recipe::Model defaults;
  only_for(&CellUses::memory, "forget_bias", model.forget_bias != 0);
  only_for(&CellUses::memory, "zoneout_memory", model.zoneout_memory != 0);
  only_for(&CellUses::intermediate, "intermediate", model.intermediate != defaults.intermediate);
  only_for(&CellUses::transition, "transition", !model.transition.empty());
  only_for(&CellUses::integration, "alpha", model.alpha != defaults.alpha);
  only_for(&CellUses::integration, "beta1", model.beta1 != defaults.beta1);
  only_for(&CellUses::integration, "beta2", model.beta2 != defaults.beta2);
  only_for(&CellUses::integration_bias, "integration_bias",
           model.integration_bias != defaults.integration_bias);
  only_for(&CellUses::bias_count, "biases = 0", model.biases == 0);
  check_input(
      model.biases > 0 || model.forget_bias == 0,
      "{}: model.forget_bias = {} is added to a bias, which model.biases = 0 leaves out: leave out one "
      "of them",
      where, model.forget_bias);
  const std::int64_t at_once = task.micro_batch > 0 ? task.micro_batch : task.batches.batch;
  check_input(
      !uses_of(model.cell).batch_statistics || at_once > 1,
      "{}: model.cell = \"{}\" takes statistics over the streams that are computed at once, here one: "
      "set {} to 2 or more",
      where, model.cell, task.micro_batch > 0 ? "train.micro_batch" : "train.batch");
  check_input(model.minor_input == defaults.minor_input || model.major_ratio != defaults.major_ratio,
              "{}: model.minor_input = \"{}\", but there is no minor cell: set model.major_ratio, as in 0.9",
              where, model.minor_input);
  check_input(
      model.output_activation == defaults.output_activation || !model.output_layers.empty(),
      "{}: model.output_activation = \"{}\", but there is no layer to have it: set model.output_layers, as "
      "in [650]",
      where, model.output_activation);
  const std::vector<std::pair<std::string, double>> rates = {{"input_dropout", model.input_dropout},
                                                             {"hidden_dropout", model.hidden_dropout},
                                                             {"output_dropout", model.output_dropout},
                                                             {"latent_dropout", model.latent_dropout}};
  for (const auto& [key, rate] : rates)
    check_input(rate == -1 || rate >= 0,
                "{}: model.{} = {} is no share: from 0 to 1, or -1 for that of model.dropout", where, key,
                rate);
  check_input(!model.variational || model.dropout > 0 ||
                  std::any_of(rates.begin(), rates.end(), [](const auto& it) { return it.second > 0; }),
              "{}: model.variational = true says how model.dropout drops, which is 0, as are those for its "
              "parts: set one, or leave this out",
              where);
  check_input(
      model.init_all == 0 || (model.input_init == "pytorch" && model.recurrent_init == "pytorch" &&
                              model.output_init == "pytorch"),
      "{}: model.init_all = {} sets every parameter: leave out model.input_init, model.recurrent_init and "
      "model.output_init, or set model.init_all = 0",
      where, model.init_all);
  check_section(where, "train", recipe.trainer);
  check_section(where, "train", task);
  const auto only_with_streams = [&](const char* key, double value) {
    check_input(value == 0 || task.batches.batching == Batching::streams,
                "{}: train.{} = {} is for data.batching = \"streams\", not \"{}\": set it to 0", where, key,
                value, name_of(task.batches.batching));
  };
  only_with_streams("length_deviation", task.batches.chunks.deviation);
  only_with_streams("reset_every", static_cast<double>(task.reset_every));
  only_with_streams("activation_regularization", task.activation_regularization);
  only_with_streams("temporal_regularization", task.temporal_regularization);
  try {
    check_options(model_options(recipe));
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", where, error.what()));
  }
}

}  // namespace rondo

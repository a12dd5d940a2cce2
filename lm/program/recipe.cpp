// The sections of a recipe: see recipe.h. What must hold between them: recipe_validation.h.
#include "lm/program/recipe.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "nn/cells/cell.h"
#include "tensor/error.h"

namespace rondo {

namespace {
std::string cells_of(bool CellUses::*setting) {
  return fmt::format("{}", fmt::join(cells_that_use(setting), ", "));
}

Keys keys_of(Recipe::Model& model) {
  const Limits any{};
  // Far beyond any use, but small enough that their products do not overflow.
  const Limits width = between(1, 1'000'000);
  const Limits rate_or_default = from_to_below(-1, 1);  // validate() has the rest
  const std::vector<std::string> initialisers = {"pytorch", "uniform", "normal", "log_normal", "orthogonal"};
  return {
      {"model.cell", &model.cell, one_of(cell_names()), "",
       "the recurrent cell; lstm_sigmoid has a sigmoid as output activation, gru_reset_after is the form of "
       "PyTorch and cuDNN, linear_ means the identity for tanh, m multiplicative (tm: with an intermediate "
       "state for each gate), mi multiplicative integration, dt a deep transition (dts: with a shortcut), bn "
       "batch normalisation with statistics for each of the first train.length steps"},
      {"model.layers", &model.layers, between(1, 1000), "layers", "recurrent layers on top of each other"},
      {"model.embedding", &model.embedding, between(0, 1'000'000), "units",
       "width of a symbol's vector; 0: no table, the input is one-hot"},
      {"model.hidden", &model.hidden, width, "units",
       "width of each recurrent layer; one number serves them all"},
      {"model.major_ratio", &model.major_ratio, any, "",
       "share of each recurrent layer's units that its major cell has, a minor one having the rest; one "
       "number "
       "serves all layers; 1: no minor cell"},
      {"model.minor_input", &model.minor_input, one_of({"embedding", "previous_layer"}), "",
       "what minor cells read"},
      {"model.bidirectional", &model.bidirectional, any, "",
       "read in both directions; no language model that reads from left to right can"},
      {"model.transition", &model.transition, width, "units",
       "widths of the inner layers of " + cells_of(&CellUses::transition) +
           "; []: one, as wide as the state"},
      {"model.intermediate", &model.intermediate, between(-1, 1'000'000), "units",
       "width of the intermediate state of " + cells_of(&CellUses::intermediate) +
           "; -1: that of the layer's input"},
      {"model.alpha", &model.alpha, any, "",
       "initial value, in the mi_ cells, of the weights of the product of what input and state contribute"},
      {"model.beta1", &model.beta1, any, "", "the same, of what the state contributes"},
      {"model.beta2", &model.beta2, any, "", "the same, of what the input contributes"},
      {"model.integration_bias", &model.integration_bias, any, "", "the same, of their biases"},
      {"model.biases", &model.biases, between(0, 2), "",
       "biases of each gate: 2 as in PyTorch (input and recurrent), 1, or 0 (as in equations (2)-(5) of "
       "Luchetta's GRU); the mi_ and bn_ cells, dt_rnn, dts_rnn and the inner layers of a deep transition "
       "always have 1"},
      {"model.output_layers", &model.output_layers, width, "units",
       "widths of layers between the last recurrent layer and the output"},
      {"model.output_activation", &model.output_activation, one_of({"tanh", "identity"}), "",
       "what these layers do to their sums"},
      {"model.experts", &model.experts, between(1, 1000), "softmaxes",
       "in the output layer's mixture; 1: no mixture"},
      {"model.latent_dropout", &model.latent_dropout, from_to_below(0, 1), "share of units",
       "dropped from what a mixture's softmaxes see"},
      {"model.tied", &model.tied, any, "", "the output layer uses the embedding's weights"},
      {"model.dropout", &model.dropout, from_to_below(0, 1), "share of units",
       "dropped from the embedding, between layers and before the output"},
      {"model.input_dropout", &model.input_dropout, rate_or_default, "share of units",
       "dropped from the embedding; -1: model.dropout"},
      {"model.hidden_dropout", &model.hidden_dropout, rate_or_default, "share of units",
       "dropped between recurrent layers; -1: model.dropout"},
      {"model.output_dropout", &model.output_dropout, rate_or_default, "share of units",
       "dropped from the last recurrent layer's output; -1: model.dropout"},
      {"model.variational", &model.variational, any, "",
       "whether these rates drop the same units at all steps of a chunk"},
      {"model.embedding_dropout", &model.embedding_dropout, from_to_below(0, 1), "share of symbols",
       "whose vectors are dropped from the input, the same at all places of a chunk"},
      {"model.weight_drop", &model.weight_drop, from_to_below(0, 1), "share of elements",
       "of the recurrent weights that are dropped, the same at all steps of a chunk"},
      {"model.recurrent_dropout", &model.recurrent_dropout, from_to_below(0, 1), "share of units",
       "dropped from the state before recurrent weights see it, the same at all steps of a chunk"},
      {"model.zoneout", &model.zoneout, from_to_below(0, 1), "share of units",
       "of the state that keep their value for a step"},
      {"model.zoneout_memory", &model.zoneout_memory, from_to_below(0, 1), "share of units",
       "of an LSTM's memory that keep their value for a step"},
      {"model.input_init", &model.input_init, one_of(initialisers), "",
       "how input weights start; pytorch: U(-1/sqrt(hidden), 1/sqrt(hidden)), biases too; log_normal: e to "
       "normal values of mean 1, torch's default"},
      {"model.input_range", &model.input_range, at_least(0), "",
       "half width of the uniform, or deviation of the normal, or of the log_normal's logarithm, input_init"},
      {"model.recurrent_init", &model.recurrent_init, one_of(initialisers), "",
       "how recurrent weights start"},
      {"model.recurrent_range", &model.recurrent_range, at_least(0), "", "the same of recurrent_init"},
      {"model.output_init", &model.output_init, one_of(initialisers), "",
       "how the output layer's weights start, if they are not tied; pytorch: U(-1/sqrt(width of its input), "
       "1/sqrt(width of its input)), its bias too"},
      {"model.output_range", &model.output_range, at_least(0), "", "the same of output_init"},
      {"model.embedding_range", &model.embedding_range, at_least(0), "",
       "half width of the uniform initial embedding"},
      {"model.init_all", &model.init_all, at_least(0), "",
       "half width of one uniform distribution for every parameter, biases included; 0: off"},
      {"model.forget_bias", &model.forget_bias, any, "",
       "added to the initial bias of an LSTM's forget gate"},
  };
}
}  // namespace

Keys keys_of(Recipe& recipe) {
  LanguageModellingOptions& task = recipe.task;
  const Keys title = {
      {"name", &recipe.name, {}, "", "the name of the recipe; runs are called runs/NAME-N"},
      {"description", &recipe.description, any_text(), "", "one line for `lm recipes`"},
      {"paper", &recipe.paper, any_text(), "", "where the settings come from: paper, table, row"},
  };
  return joined({
      section("recipe", title),
      section("published", keys_of(recipe.published)),
      section("data",
              joined({keys_of(recipe.data), keys_of(task.batches.batching), keys_of(task.evaluated_as)})),
      keys_of(recipe.model),
      section("train", joined({keys_of(recipe.trainer), keys_of(task), keys_of(recipe.run)})),
      section("finetune", keys_of(recipe.finetune)),
      section("report", keys_of(recipe.report)),
      section("dynamic", keys_of(recipe.dynamic)),
      section("cache", keys_of(recipe.cache)),
  });
}

bool acts_in_training_alone(const std::string& key) {
  return key.find("drop") != std::string::npos || key.starts_with("model.zoneout") ||
         key == "model.variational";
}

}  // namespace rondo

// From a recipe to the objects that it names.
#include "lm/program/model.h"

#include <algorithm>

namespace rondo {
namespace {

/// "pytorch" is nothing given: the layers' own default.
std::optional<Initializer> initializer(const std::string& kind, double size) {
  if (kind == "uniform") return uniform_values(size);
  if (kind == "normal") return normal_values(size);
  if (kind == "log_normal") return log_normal_values(1, size);  // torch's log_normal_ has 1 by default
  if (kind == "orthogonal") return orthogonal_values();
  return std::nullopt;
}

/// One number stands for all layers.
template <class Number>
std::vector<Number> of_each_layer(const std::vector<Number>& numbers, std::int64_t layers) {
  return numbers.size() == 1 ? std::vector(static_cast<size_t>(layers), numbers.front()) : numbers;
}

/// -1 stands for a rate that is not given.
std::optional<double> given(double rate) { return rate < 0 ? std::nullopt : std::optional(rate); }

std::uint64_t seed_of(const Recipe& recipe) { return static_cast<std::uint64_t>(recipe.trainer.seed); }

}  // namespace

LanguageModelOptions model_options(const Recipe& recipe) {
  const Recipe::Model& model = recipe.model;
  LanguageModelOptions options;
  options.cell = model.cell;
  options.embedding = model.embedding;
  options.hidden = of_each_layer(model.hidden, model.layers);
  options.major_ratio = of_each_layer(model.major_ratio, model.layers);
  options.minor_input = model.minor_input == "embedding" ? MinorInput::embedding : MinorInput::previous_layer;
  options.bidirectional = model.bidirectional;
  options.transition = model.transition;
  options.variational = model.variational;
  options.noise = {model.recurrent_dropout, model.zoneout, model.zoneout_memory, model.weight_drop};
  options.output_layers = model.output_layers;
  options.output_activation =
      model.output_activation == "tanh" ? OutputActivation::tanh : OutputActivation::identity;
  options.dropout = model.dropout;
  options.input_dropout = given(model.input_dropout);
  options.hidden_dropout = given(model.hidden_dropout);
  options.output_dropout = given(model.output_dropout);
  options.embedding_dropout = model.embedding_dropout;
  options.experts = model.experts;
  options.latent_dropout = model.latent_dropout;
  options.tied = model.tied;
  options.bias_count = static_cast<int>(model.biases);
  options.forget_bias = model.forget_bias;
  options.intermediate = std::max<std::int64_t>(model.intermediate, 0);
  options.integration = {model.alpha, model.beta1, model.beta2, model.integration_bias};
  options.statistics_steps = recipe.task.batches.chunks.length;
  options.embedding_weights = uniform_values(model.embedding_range);
  options.input_weights = initializer(model.input_init, model.input_range);
  options.recurrent_weights = initializer(model.recurrent_init, model.recurrent_range);
  options.output_weights = initializer(model.output_init, model.output_range);
  if (model.init_all > 0) options.every = uniform_values(model.init_all);
  return options;
}

Training::Training(const Recipe& recipe, int64_t vocabulary_size, std::span<const int32_t> train_ids,
                   std::optional<int32_t> line_end, Device device, std::span<const int32_t> valid_ids)
    : model(model_options(recipe), vocabulary_size, seed_of(recipe), device),
      task(model, recipe.task, train_ids, valid_ids, line_end, seed_of(recipe)),
      trainer(task, recipe.trainer) {}

}  // namespace rondo

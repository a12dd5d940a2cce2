// From a recipe to the objects that it names.
#include "lm/program/model.h"

#include <algorithm>

#include "cuda/runtime.h"
#include "tensor/blas_memory.h"
#include "tensor/threads.h"

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
  options.statistics_steps = recipe.train.length;
  options.embedding_weights = uniform_values(model.embedding_range);
  options.input_weights = initializer(model.input_init, model.input_range);
  options.recurrent_weights = initializer(model.recurrent_init, model.recurrent_range);
  options.output_weights = initializer(model.output_init, model.output_range);
  if (model.init_all > 0) options.every = uniform_values(model.init_all);
  return options;
}

BatchOptions batch_options(const Recipe& recipe, std::optional<int32_t> line_end) {
  BatchOptions options;
  options.batching = recipe.data.batching == "lines"   ? Batching::lines
                     : recipe.data.batching == "crops" ? Batching::crops
                                                       : Batching::streams;
  options.batch = recipe.train.batch;
  options.chunks = {recipe.train.length, recipe.train.length_deviation,
                    static_cast<uint64_t>(recipe.train.seed)};
  options.line_end = line_end;
  return options;
}

LanguageModellingOptions language_modelling_options(const Recipe& recipe, std::optional<int32_t> line_end) {
  const Recipe::Train& train = recipe.train;
  LanguageModellingOptions options;
  options.batches = batch_options(recipe, line_end);
  options.micro_batch = train.micro_batch;
  options.reset_every = train.reset_every;
  options.loss = train.loss == "sum_over_time" ? LossScale::sum_over_time : LossScale::mean;
  options.activation_regularization = train.activation_regularization;
  options.temporal_regularization = train.temporal_regularization;
  options.validation = validation_reading(recipe, line_end);
  return options;
}

TrainerOptions trainer_options(const Recipe& recipe) {
  const Recipe::Train& train = recipe.train;
  TrainerOptions options;
  options.seed = static_cast<uint64_t>(train.seed);
  options.epochs = train.epochs;
  options.clip = train.clip;
  options.optimizer.name = train.optimizer;
  if (train.learning_rate > 0) options.optimizer.learning_rate = train.learning_rate;
  options.optimizer.momentum = train.momentum;
  options.optimizer.weight_decay = train.weight_decay;
  options.schedule.name = train.schedule;
  options.schedule.decay = train.decay;
  options.schedule.decay_every = train.decay_every;
  options.schedule.decay_after = train.decay_after;
  options.schedule.decay_at = train.decay_at;
  options.schedule.patience = train.patience;
  options.averaging = train.averaging == "always"          ? Averaging::always
                      : train.averaging == "non_monotonic" ? Averaging::non_monotonic
                                                           : Averaging::never;
  options.trigger_interval = train.averaging_interval;
  options.non_monotonic_stopping = train.non_monotonic_stopping;
  options.early_stopping = train.early_stopping;
  return options;
}

Training::Training(const Recipe& recipe, int64_t vocabulary_size, std::span<const int32_t> train_ids,
                   std::optional<int32_t> line_end, Device device, std::span<const int32_t> valid_ids)
    : model(model_options(recipe), vocabulary_size, static_cast<uint64_t>(recipe.train.seed), device),
      task(model, language_modelling_options(recipe, line_end), train_ids, valid_ids),
      trainer(task, trainer_options(recipe)) {}

Reading validation_reading(const Recipe& recipe, std::optional<int32_t> line_end) {
  Reading reading = final_reading(recipe, line_end);
  if (reading.carries_state()) reading.streams = recipe.train.eval_streams;
  return reading;
}

Reading final_reading(const Recipe& recipe, std::optional<int32_t> line_end) {
  const bool by_segments = recipe.data.evaluated_as == "batching";
  if (by_segments && recipe.data.batching == "lines") return {.line_end = line_end};
  if (by_segments && recipe.data.batching == "crops") return {.sequence = recipe.train.length};
  return {.streams = recipe.train.final_streams};
}

Compute choose_device(const std::string& device, const std::optional<std::string>& wanted_precision,
                      std::optional<int> wanted_threads) {
  if (wanted_threads) set_threads(*wanted_threads);
  const std::string precision = wanted_precision.value_or("fp32");
  if (device == name_of(Device::cpu)) {
    check_input(precision == "fp32", "--precision {} is a GPU's; a CPU multiplies as it is written, in fp32",
                precision);
    take_blas_buffers(threads());  // before anybody asks how much memory is left
    return {Device::cpu, threads(), precision};
  }
  const std::string why_not = cuda::unavailable();
  check_input(why_not.empty(), "--device {}: {}; use --device cpu", device, why_not);
  cuda::set_precision(precision == "tf32"   ? cuda::Precision::tf32
                      : precision == "bf16" ? cuda::Precision::bf16
                                            : cuda::Precision::fp32);
  return {Device::cuda, threads(), precision};
}

}  // namespace rondo

// From a recipe to the objects that it names.
#include "lm/program/model.h"

#include <algorithm>

#include "cuda/runtime.h"
#include "tensor/blas_memory.h"
#include "tensor/threads.h"

namespace rondo {
LanguageModelOptions model_options(const Recipe& recipe) {
  LanguageModelOptions options = layer_by_layer(recipe.model);
  options.max_time_steps = recipe.train.length;
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

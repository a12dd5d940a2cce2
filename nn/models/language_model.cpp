// The recurrent language model.
#include "nn/models/language_model.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace rondo {
namespace {

/// Units of layer i that are its major cell's.
int64_t major_units(const LanguageModelOptions& options, size_t i) {
  if (options.major_ratio.empty()) return options.hidden[i];
  return std::llround(static_cast<double>(options.hidden[i]) * options.major_ratio[i]);
}

StackOptions stack_options(const LanguageModelOptions& options, int64_t vocabulary_size) {
  const auto cell = [&](int64_t input, int64_t H) {
    CellOptions result = pytorch_cell(input, H);
    result.input_weights = options.input_weights.value_or(result.input_weights);
    result.recurrent_weights = options.recurrent_weights.value_or(result.recurrent_weights);
    result.forget_bias = options.forget_bias;
    result.bias_count = options.bias_count;
    result.intermediate_size = options.intermediate;
    result.transition = options.transition;
    result.integration = options.integration;
    result.statistics_steps = options.statistics_steps;
    return result;
  };
  StackOptions stack{.cell = options.cell,
                     .layers = {},
                     .minor_input = options.minor_input,
                     .bidirectional = options.bidirectional,
                     .dropout = options.hidden_dropout.value_or(options.dropout),
                     .variational = options.variational,
                     .noise = options.noise};
  const int64_t embedding = options.embedding > 0 ? options.embedding : vocabulary_size;
  int64_t input = embedding;
  for (size_t i = 0; i < options.hidden.size(); ++i) {
    const int64_t units = options.hidden[i], major = major_units(options, i);
    if (major == units)
      stack.layers.emplace_back(cell(input, units));
    else
      stack.layers.emplace_back(
          cell(input, major),
          cell(options.minor_input == MinorInput::embedding ? embedding : input, units - major));
    input = units;
  }
  return stack;
}

/// What the output layer, or the mixture before it, sees.
int64_t last_width(const LanguageModelOptions& options) {
  return options.output_layers.empty() ? options.hidden.back() : options.output_layers.back();
}

const LanguageModelOptions& checked(const LanguageModelOptions& options) {
  check_options(options);
  return options;
}

Variable as_rows(const Variable& x) { return reshape(x, {x.shape().rows(), x.shape().columns()}); }

}  // namespace

void check_options(const LanguageModelOptions& options) {
  check_input(!options.hidden.empty(), "a model needs at least one recurrent layer");
  check_input(
      !options.bidirectional,
      "bidirectional layers read what a left-to-right language model has to predict; they are for encoders");
  check_input(options.major_ratio.empty() || options.major_ratio.size() == options.hidden.size(),
              "{} layers need as many ratios of major cells, got {}", options.hidden.size(),
              options.major_ratio.size());
  for (size_t i = 0; i < options.major_ratio.size(); ++i) {
    const double ratio = options.major_ratio[i];
    check_input(
        ratio > 0 && ratio <= 1,
        "the major cell's share of a layer's units (model.major_ratio) is more than 0 and at most 1, which "
        "leaves no minor cell; not {}",
        ratio);
    if (ratio == 1) continue;
    const int64_t units = options.hidden[i], major = major_units(options, i);
    const bool both = major > 0 && units > major;
    check_input(both, "a share of {} of {} units (model.major_ratio) leaves no unit to the {} cell", ratio,
                units, major > 0 ? "minor" : "major");
    check_input(options.embedding > 0 || options.minor_input != MinorInput::embedding,
                "a minor cell reads the embedding, which one-hot symbols have not: set model.embedding, or "
                "model.minor_input = \"previous_layer\"");
  }
  check_input(options.embedding_dropout == 0 || options.embedding > 0,
              "model.embedding_dropout drops rows of the embedding, and one-hot symbols have none: set "
              "model.embedding, or leave it out");
  check_input(options.noise.weight_drop == 0 || has_recurrent_weights(options.cell),
              "model.weight_drop drops elements of recurrent weights, and the cell {} has none: leave it out",
              options.cell);
  check_input(!options.tied || options.embedding > 0,
              "tied input and output vectors need an embedding; one-hot symbols have none");
  check_input(!options.tied || !options.output_weights,
              "tied output vectors start as the embedding: leave out what they start as (model.output_init)");
  check_input(options.experts >= 1, "a model has one softmax or a mixture of several (model.experts), not {}",
              options.experts);
  check_input(options.experts > 1 || options.latent_dropout == 0,
              "model.latent_dropout drops what lies between a mixture's experts and the output: set "
              "model.experts, or leave it out");
  check_input(!options.tied || options.experts > 1 || last_width(options) == options.embedding,
              "tied input and output vectors need one size: the embedding is {}, the last layer {}",
              options.embedding, last_width(options));
}

bool masks(const LanguageModelOptions& options) {
  const RecurrentRegularization& noise = options.noise;
  const double rates[] = {options.input_dropout.value_or(options.dropout),
                          options.hidden_dropout.value_or(options.dropout),
                          options.output_dropout.value_or(options.dropout),
                          options.embedding_dropout,
                          options.latent_dropout,
                          noise.dropout,
                          noise.zoneout,
                          noise.zoneout_memory,
                          noise.weight_drop};
  return std::any_of(std::begin(rates), std::end(rates), [](double rate) { return rate > 0; });
}

LanguageModel::LanguageModel(const LanguageModelOptions& options, int64_t vocabulary_size,
                             std::optional<uint64_t> seed, Device device)
    : options_(checked(options)),
      vocabulary_size_(vocabulary_size),
      embedding_(options.embedding > 0
                     ? std::make_unique<Embedding>(*this, "embedding", vocabulary_size, options.embedding,
                                                   options.embedding_weights)
                     : nullptr),
      embedding_dropout_(*this, "embedding_dropout", options.embedding_dropout),
      input_dropout_(*this, "input_dropout", options.input_dropout.value_or(options.dropout),
                     options.variational),
      recurrent_(*this, "rnn", stack_options(options, vocabulary_size)),
      output_dropout_(*this, "output_dropout", options.output_dropout.value_or(options.dropout),
                      options.variational) {
  int64_t width = options.hidden.back();
  for (size_t i = 0; i < options.output_layers.size(); ++i) {
    const int64_t next = options.output_layers[i];
    output_layers_.push_back(std::make_unique<Linear>(*this, fmt::format("output_layer_{}", i), width, next));
    width = next;
  }
  if (options.experts > 1) {
    const int64_t E = options.embedding > 0 ? options.embedding : width;
    mixture_ = std::make_unique<Mixture>(*this, "mixture", width, options.experts, E, options.latent_dropout,
                                         options.variational);
    width = E;
  }
  if (options.tied) {
    decoder_ = std::make_unique<Linear>(*this, "decoder", embedding_->weight, constant_values(0));
  } else {
    const Initializer pytorch = uniform_values(1 / std::sqrt(width));
    decoder_ = std::make_unique<Linear>(*this, "decoder", width, vocabulary_size,
                                        options.output_weights.value_or(pytorch), pytorch);
  }
  if (seed)
    finalize(*seed, options.every ? &*options.every : nullptr, device);
  else
    lay_out();
}

LanguageModel::Result LanguageModel::forward(const Input& input, const std::vector<State>& states) {
  const Variable vectors = embedding_
                               ? embedding_dropout_((*embedding_)(input.ids), input.ids, vocabulary_size_)
                               : one_hot(input.ids, vocabulary_size_, device());
  const Variable x = reshape(vectors, {input.steps, input.streams, vectors.shape().columns()});
  auto [hidden, next] = recurrent_(input_dropout_(x), states, input.lengths);
  const Variable dropped = output_dropout_(hidden);
  Variable features = dropped, prior;
  for (const auto& layer : output_layers_) {
    features = (*layer)(features);
    if (options_.output_activation == OutputActivation::tanh) features = tanh(features);
  }
  if (mixture_) {
    prior = as_rows(mixture_->log_prior(features));
    features = mixture_->latents(features);
  }
  return {{as_rows(features), hidden, dropped, prior}, next};
}

Variable LanguageModel::logits(const Output& output) const {
  return mixture_ ? mixture_log_probabilities(output.features, output.prior, *decoder_)
                  : (*decoder_)(output.features);
}

CrossEntropy LanguageModel::cross_entropy(const Output& output, const Tokens& targets) const {
  return mixture_
             ? mixture_cross_entropy(output.features, output.prior, decoder_->weight, decoder_->bias, targets)
             : linear_cross_entropy(output.features, decoder_->weight, decoder_->bias, targets);
}

std::vector<State> streams_of(const std::vector<State>& states, int64_t first, int64_t count) {
  if (first == 0 && count == states.front().h.shape()[0]) return states;
  std::vector<State> result;
  for (const State& state : states)
    result.push_back(state.map([&](const Variable& x) { return x.slice(first, first + count); }));
  return result;
}

std::vector<State> detached(const std::vector<State>& states) {
  std::vector<State> result;
  for (const State& state : states)
    result.push_back(state.map([](const Variable& x) { return x.detached(); }));
  return result;
}

}  // namespace rondo

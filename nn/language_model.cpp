// The recurrent language model.
#include "nn/language_model.h"

#include <cmath>

namespace rondo {
namespace {

std::vector<CellOptions> cell_options(const LanguageModelOptions& options, int64_t vocabulary_size) {
  std::vector<CellOptions> layers;
  int64_t input = options.embedding > 0 ? options.embedding : vocabulary_size;
  for (int64_t H : options.hidden) {
    CellOptions layer = pytorch_cell(input, H);
    layer.input_weights = options.input_weights.value_or(layer.input_weights);
    layer.recurrent_weights = options.recurrent_weights.value_or(layer.recurrent_weights);
    layer.forget_bias = options.forget_bias;
    layer.bias_count = options.bias_count;
    layer.intermediate_size = options.intermediate;
    layer.integration = options.integration;
    layer.statistics_steps = options.statistics_steps;
    layers.push_back(layer);
    input = H;
  }
  return layers;
}

/// What the output layer sees.
int64_t last_width(const LanguageModelOptions& options) {
  return options.output_layers.empty() ? options.hidden.back() : options.output_layers.back();
}

const LanguageModelOptions& checked(const LanguageModelOptions& options) {
  check_input(!options.hidden.empty(), "a model needs at least one recurrent layer");
  check_input(!options.tied || options.embedding > 0,
              "tied input and output vectors need an embedding; one-hot symbols have none");
  check_input(!options.tied || last_width(options) == options.embedding,
              "tied input and output vectors need one size: the embedding is {}, the last layer {}",
              options.embedding, last_width(options));
  return options;
}

Variable as_rows(const Variable& x) { return reshape(x, {x.shape().rows(), x.shape().columns()}); }

}  // namespace

LanguageModel::LanguageModel(const LanguageModelOptions& options, int64_t vocabulary_size, uint64_t seed)
    : options_(checked(options)),
      vocabulary_size_(vocabulary_size),
      embedding_(options.embedding > 0
                     ? std::make_unique<Embedding>(*this, "embedding", vocabulary_size, options.embedding,
                                                   options.embedding_weights)
                     : nullptr),
      input_dropout_(*this, "input_dropout", options.dropout),
      recurrent_(*this, "rnn", options.cell, cell_options(options, vocabulary_size), options.dropout),
      output_dropout_(*this, "output_dropout", options.dropout) {
  int64_t width = options.hidden.back();
  for (size_t i = 0; i < options.output_layers.size(); ++i) {
    const int64_t next = options.output_layers[i];
    output_layers_.push_back(std::make_unique<Linear>(*this, fmt::format("output_layer_{}", i), width, next));
    width = next;
  }
  decoder_ = options.tied ? std::make_unique<Linear>(*this, "decoder", embedding_->weight, constant_values(0))
                          : std::make_unique<Linear>(*this, "decoder", width, vocabulary_size);
  finalize(seed, options.every ? &*options.every : nullptr);
}

LanguageModel::Result LanguageModel::forward(const Input& input, const std::vector<State>& states) {
  const Variable vectors = embedding_ ? (*embedding_)(input.ids) : one_hot(input.ids, vocabulary_size_);
  const Variable x = reshape(vectors, {input.steps, input.streams, vectors.shape().columns()});
  auto [output, next] = recurrent_(input_dropout_(x), states);
  Variable rows = as_rows(output_dropout_(output));
  for (const auto& layer : output_layers_) rows = tanh((*layer)(rows));
  return {rows, next};
}

Variable LanguageModel::logits(const Variable& output) const { return (*decoder_)(output); }

CrossEntropy LanguageModel::cross_entropy(const Variable& output, const Tokens& targets) const {
  return linear_cross_entropy(output, decoder_->weight, decoder_->bias, targets);
}

std::vector<State> detached(const std::vector<State>& states) {
  std::vector<State> result;
  for (const State& state : states)
    result.push_back(state.map([](const Variable& x) { return x.detached(); }));
  return result;
}

}  // namespace rondo

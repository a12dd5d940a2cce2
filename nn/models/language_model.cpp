// The recurrent language model.
#include "nn/models/language_model.h"

#include <algorithm>

#include "tensor/kernels/kernels.h"

namespace rondo {
namespace {

StackOptions stack_of(const LanguageModelOptions& options, int64_t vocabulary_size) {
  const auto cell = [&](int64_t input, int64_t H) {
    CellOptions result = pytorch_cell(input, H);
    result.input_weights = options.input_init.initializer().value_or(result.input_weights);
    result.recurrent_weights = options.recurrent_init.initializer().value_or(result.recurrent_weights);
    result.max_time_steps = options.max_time_steps;
    return result;
  };
  std::vector<LayerOptions> layers;
  const int64_t embedding = options.embedding > 0 ? options.embedding : vocabulary_size;
  int64_t input = embedding;
  for (size_t i = 0; i < options.hidden.size(); ++i) {
    const int64_t units = options.hidden[i], major = options.major_units(i);
    if (major == units)
      layers.emplace_back(cell(input, options.block.cell_units(units)));
    else
      layers.emplace_back(
          cell(input, major),
          cell(options.minor_input == MinorInput::embedding ? embedding : input, units - major));
    input = units;
  }
  StackOptions stack = stack_options(options, std::move(layers));
  stack.minor_input = options.minor_input;
  stack.block = options.block;
  stack.dropout = options.hidden_dropout.value_or(options.dropout);
  return stack;
}

Variable as_rows(const Variable& x) { return reshape(x, {x.shape().rows(), x.shape().columns()}); }

}  // namespace

LanguageModel::LanguageModel(const LanguageModelOptions& options, int64_t vocabulary_size, uint64_t seed,
                             Device device)
    : options_(layer_by_layer(options)),
      vocabulary_size_(vocabulary_size),
      embedding_(options.embedding > 0
                     ? std::make_unique<Embedding>(*this, "embedding", vocabulary_size, options.embedding,
                                                   options.embedding_init)
                     : nullptr),
      embedding_dropout_(*this, "embedding_dropout", options.embedding_dropout),
      input_dropout_(*this, "input_dropout", options.input_dropout.value_or(options.dropout),
                     options.variational),
      recurrent_(*this, "rnn", stack_of(options_, vocabulary_size)),
      output_dropout_(*this, "output_dropout", options.output_dropout.value_or(options.dropout),
                      options.variational) {
  int64_t width = options_.hidden.back();
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
  if (options.output == OutputKind::adaptive) {
    adaptive_ = std::make_unique<AdaptiveSoftmax>(*this, "decoder", width, vocabulary_size, options.adaptive,
                                                  options.output_init.initializer());
    options_.adaptive.cutoffs = adaptive_->cutoffs();
  } else if (options.tied) {
    decoder_ = std::make_unique<Linear>(*this, "decoder", embedding_->weight, constant_values(0));
  } else {
    decoder_ =
        std::make_unique<Linear>(*this, "decoder", width, vocabulary_size, options.output_init.initializer());
  }
  finalize(seed, options.init_all, device);
}

LanguageModel::Result LanguageModel::forward(const Input& input, const std::vector<State>& states) {
  const bool drops = training() && (embedding_dropout_.probability > 0 || input_dropout_.probability > 0);
  const Variable vectors = embedding_
                               ? embedding_dropout_((*embedding_)(input.ids), input.ids, vocabulary_size_)
                               : one_hot(input.ids, vocabulary_size_, device());
  const Variable x =
      input_dropout_(reshape(vectors, {input.steps, input.streams, vectors.shape().columns()}));
  auto [hidden, next] = recurrent_(embedding_ && !drops ? LayerInput(x, embedding_->weight, input.ids) : x,
                                   states, input.lengths);
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
  if (adaptive_) return adaptive_->log_probabilities(output.features);
  return mixture_ ? mixture_log_probabilities(output.features, output.prior, *decoder_)
                  : (*decoder_)(output.features);
}

CrossEntropy LanguageModel::cross_entropy(const Output& output, const Tokens& targets) const {
  if (adaptive_) return adaptive_->cross_entropy(output.features, targets);
  return mixture_
             ? mixture_cross_entropy(output.features, output.prior, decoder_->weight, decoder_->bias, targets)
             : linear_cross_entropy(output.features, decoder_->weight, decoder_->bias, targets);
}

bool LanguageModel::can_be_recorded() const {
  return !adaptive_ && buffers().empty() && !look_across_rows(cells());
}

std::vector<State> streams_of(const std::vector<State>& states, int64_t first, int64_t count) {
  if (states.empty() || (first == 0 && count == states.front().h.shape()[0])) return states;
  return mapped(states, [&](const Variable& x) { return x.slice(first, first + count); });
}

void copy_states(const std::vector<State>& from, const std::vector<State>& to, int64_t first) {
  CopySeveral copies{};
  int count = 0;
  Extent extent;
  Device device = Device::cpu;
  const auto copy_collected = [&] {
    if (count > 0) launch(device, extent, copies);
    copies = {}, extent = {}, count = 0;
  };
  for (size_t layer = 0; layer < to.size(); ++layer) {
    const std::vector<State::Named> of = from[layer].tensors(), into = to[layer].tensors();
    for (size_t i = 0; i < of.size(); ++i) {
      const Tensor &source = of[i].value.value(),
                   place = into[i].value.value().slice(first, first + source.rows());
      check_one_device("copy_states", place, source);
      check(source.shape() == place.shape(), "[copy_states] {} does not fit into {}", source.shape(),
            place.shape());
      if (count == CopySeveral::most) copy_collected();
      device = place.device();
      extent = {extent.rows + source.rows(), std::max(extent.columns, source.columns())};
      copies.parts[count++] = {source.read_operand(), place.write_operand(), source.columns(), extent.rows};
    }
  }
  copy_collected();
}

}  // namespace rondo

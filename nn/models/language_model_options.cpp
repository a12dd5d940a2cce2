// Options of a recurrent language model.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "nn/models/language_model.h"

namespace rondo {

Keys keys_of(LanguageModelOptions& it) {
  const Keys of_model = {
      cell_key(it),
      {"layers", &it.layers, between(1, 1000), "layers", "number of recurrent layers"},
      {"embedding", &it.embedding, between(0, 1'000'000), "units",
       "width of a symbol's vector; 0: no table, the input is one-hot"},
      {"hidden", &it.hidden, any_width(), "units",
       "width of each recurrent layer; one number is used for all"},
      {"major_ratio", &it.major_ratio,
       "share of each recurrent layer's units in its major cell, the rest being in a minor cell; "
       "one number is used for all layers; 1: no minor cell"},
      {"minor_input", choice(it.minor_input), "what minor cells read"},
      {"bidirectional", &it.bidirectional,
       "read in both directions; refused, since a language model reads from left to right"},
      {"output_layers", &it.output_layers, any_width(), "units",
       "widths of layers between the last recurrent layer and the output"},
      {"output_activation", choice(it.output_activation), "the activation of these layers"},
      {"experts", &it.experts, between(1, 1000), "softmaxes", "in the output layer's mixture; 1: no mixture"},
      {"latent_dropout", &it.latent_dropout, any_rate(), "share of units",
       "dropped from what a mixture's softmaxes see", true},
      {"output", choice(it.output),
       "the softmax over the next symbol; adaptive: in clusters by frequency, faster for many symbols"},
      {"tied", &it.tied, "the output layer uses the embedding's weights"},
      {"dropout", &it.dropout, any_rate(), "share of units",
       "dropped from the embedding, between layers and before the output", true},
      {"input_dropout", &it.input_dropout, any_rate(), "share of units",
       "dropped from the embedding; -1: model.dropout", true},
      {"hidden_dropout", &it.hidden_dropout, any_rate(), "share of units",
       "dropped between recurrent layers; -1: model.dropout", true},
      {"output_dropout", &it.output_dropout, any_rate(), "share of units",
       "dropped from the last recurrent layer's output; -1: model.dropout", true},
      {"variational",
       &it.variational,
       {},
       "",
       "whether these rates drop the same units at all steps of a chunk",
       true},
      {"embedding_dropout", &it.embedding_dropout, any_rate(), "share of symbols",
       "whose vectors are dropped from the input, the same at all places of a chunk", true},
      {"input_init", choice(it.input_init.kind),
       "initial values of input weights; pytorch: U(-1/sqrt(hidden), 1/sqrt(hidden)), biases too; "
       "log_normal: e to normal values of mean 1, torch's default"},
      {"input_range", &it.input_init.range, at_least(0),
       "for input_init: half width of the uniform, deviation of the normal, or of the log_normal's"
       " logarithm"},
      {"recurrent_init", choice(it.recurrent_init.kind), "initial values of recurrent weights"},
      {"recurrent_range", &it.recurrent_init.range, at_least(0), "the same for recurrent_init"},
      {"output_init", choice(it.output_init.kind),
       "initial values of the output layer's weights, if they are not tied; pytorch: "
       "U(-1/sqrt(width of its input), 1/sqrt(width of its input)), its bias too, which else begins at 0"},
      {"output_range", &it.output_init.range, at_least(0), "the same for output_init"},
      trained_initial_states_key(it),
      {"init_all", &it.init_all, at_least(0),
       "half width of one uniform distribution for every parameter, biases included; 0: off"},
  };
  return joined({of_model, keys_of(it.block), embedding_keys(it.embedding_init), keys_of(it.adaptive),
                 keys_of(it.regularization), keys_of(it.cell_settings)});
}

int64_t LanguageModelOptions::major_units(size_t i) const {
  return std::llround(static_cast<double>(hidden[i]) * major_ratio[i]);
}

int64_t LanguageModelOptions::last_width() const {
  return output_layers.empty() ? hidden.back() : output_layers.back();
}

namespace {

/// Repeats a single number for all layers.
template <class Number>
std::vector<Number> one_a_layer(const std::vector<Number>& numbers, size_t layers) {
  return numbers.size() == 1 ? std::vector(layers, numbers.front()) : numbers;
}

void check_adaptive(const LanguageModelOptions& options) {
  if (options.output == OutputKind::softmax) {
    const AdaptiveSoftmaxOptions defaults;
    check_input(options.adaptive.cutoffs.empty() && options.adaptive.divisor == defaults.divisor,
                "model.cutoffs and model.cluster_divisor are of an adaptive softmax: set model.output = "
                "\"adaptive\", or leave them out");
    return;
  }
  check_input(options.experts == 1,
              "model.output = \"adaptive\" is one softmax, in clusters, and model.experts = {} a mixture of "
              "several: set model.experts = 1 or model.output = \"softmax\"",
              options.experts);
  check_input(!options.tied,
              "model.tied = true needs output vectors as wide as the embedding's, and model.output = "
              "\"adaptive\" has narrower ones for rarer symbols: set model.tied = false or model.output = "
              "\"softmax\"");
  check_options(options.adaptive, options.last_width());
}

void check_blocks(const LanguageModelOptions& options) {
  const BlockOptions plain, &block = options.block;
  if (block.kind == BlockKind::plain)
    return check_input(
        block.expansion == plain.expansion && !block.convolution && !block.gate &&
            block.feed_forward == plain.feed_forward,
        "model.expansion, model.convolution, model.gate and model.feed_forward are of residual "
        "blocks: set model.block = \"residual\", or leave them out");
  check_input(
      options.embedding > 0,
      "a residual block adds to vectors of symbols: with model.block = \"residual\" set model.embedding");
  check_input(block.cell_units(options.embedding) > 0,
              "model.expansion = {} of model.embedding = {} leaves a block's cell no unit", block.expansion,
              options.embedding);
  check_input(block.feed_forward == 0 || block.feed_forward * static_cast<double>(options.embedding) >= 0.5,
              "model.feed_forward = {} of model.embedding = {} leaves a block's layers no unit",
              block.feed_forward, options.embedding);
  const auto is_width = [&](int64_t it) { return it == options.embedding; };
  check_input(std::ranges::all_of(options.hidden, is_width),
              "a residual block adds to what it reads: with model.block = \"residual\" set model.hidden to "
              "model.embedding = {}, and the width of the cells by model.expansion",
              options.embedding);
  check_input(std::ranges::all_of(options.major_ratio, [](double it) { return it == 1; }),
              "a residual block has one cell: set model.major_ratio = 1, or model.block = \"plain\"");
}

}  // namespace

LanguageModelOptions layer_by_layer(const LanguageModelOptions& given) {
  check_limits_of(given);
  check_input(!given.hidden.empty(), "a model needs at least one recurrent layer");
  const auto widths = static_cast<int64_t>(given.hidden.size());
  check_input(widths == 1 || given.layers == 1 || given.layers == widths,
              "model.hidden has {} widths for {} layers: give one for each, or one for all", widths,
              given.layers);
  LanguageModelOptions options = given;
  const size_t layers = widths == 1 ? static_cast<size_t>(given.layers) : given.hidden.size();
  options.layers = static_cast<int64_t>(layers);
  options.hidden = one_a_layer(given.hidden, layers);
  options.major_ratio = one_a_layer(given.major_ratio, layers);
  check_recurrent(options);
  check_blocks(options);
  check_input(
      !options.bidirectional,
      "bidirectional layers read what a left-to-right language model has to predict; they are for encoders");
  check_input(options.major_ratio.size() == options.hidden.size(),
              "model.major_ratio has {} shares for {} layers: give one for each, or one for all",
              options.major_ratio.size(), options.hidden.size());
  for (size_t i = 0; i < options.major_ratio.size(); ++i) {
    const double ratio = options.major_ratio[i];
    check_input(
        ratio > 0 && ratio <= 1,
        "the major cell's share of a layer's units (model.major_ratio) is more than 0 and at most 1, which "
        "leaves no minor cell; not {}",
        ratio);
    if (ratio == 1) continue;
    const int64_t units = options.hidden[i], major = options.major_units(i);
    const bool both = major > 0 && units > major;
    check_input(both, "a share of {} of {} units (model.major_ratio) leaves no unit to the {} cell", ratio,
                units, major > 0 ? "minor" : "major");
    check_input(options.embedding > 0 || options.minor_input != MinorInput::embedding,
                "a minor cell reads the embedding, which one-hot symbols do not have: set model.embedding, "
                "or model.minor_input = \"previous_layer\"");
  }
  check_input(options.embedding_dropout == 0 || options.embedding > 0,
              "model.embedding_dropout drops rows of the embedding, and one-hot symbols have none: set "
              "model.embedding, or leave it out");
  check_input(!options.tied || options.embedding > 0,
              "model.tied = true needs an embedding, and one-hot symbols have none: set model.embedding, or "
              "model.tied = false");
  check_input(!options.tied || options.output_init.kind == InitialValues::Kind::pytorch,
              "tied output vectors have the initial values of the embedding: leave out model.output_init");
  check_input(options.experts > 1 || options.latent_dropout == 0,
              "model.latent_dropout drops what lies between a mixture's experts and the output: set "
              "model.experts, or leave it out");
  check_adaptive(options);
  check_input(!options.tied || options.experts > 1 || options.last_width() == options.embedding,
              "model.tied = true needs model.embedding ({}) as wide as the layer before the output ({}, "
              "from {}): set model.embedding = {} or model.tied = false",
              options.embedding, options.last_width(),
              options.output_layers.empty() ? "model.hidden" : "model.output_layers", options.last_width());
  return options;
}

bool masks(const LanguageModelOptions& options) {
  const RecurrentRegularization& regularization = options.regularization;
  const double rates[] = {options.input_dropout.value_or(options.dropout),
                          options.hidden_dropout.value_or(options.dropout),
                          options.output_dropout.value_or(options.dropout),
                          options.embedding_dropout,
                          options.latent_dropout,
                          regularization.dropout,
                          regularization.zoneout,
                          regularization.zoneout_memory,
                          regularization.weight_drop};
  return std::any_of(std::begin(rates), std::end(rates), [](double rate) { return rate > 0; });
}

}  // namespace rondo

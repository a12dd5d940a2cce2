// The whole language model as plain loops over complex numbers, from a symbol to the probability of the next
// one: recurrent layers, Major-Minor ones too, tanh layers and a mixture of softmaxes before the output, an
// adaptive softmax.
// Written from the papers; of nn/ it knows only the names of options and parameters. It drops nothing itself.
// Next: plain_cells.h.
#pragma once

#include <algorithm>
#include <cmath>

#include "nn/models/language_model.h"
#include "tests/nn/cells/plain_gradients.h"

namespace rondo {

class PlainLanguageModel {
 public:
  /// Both must live on.
  PlainLanguageModel(const LanguageModelOptions& options, const Parameters& parameters)
      : options_(options), parameters_(parameters) {
    for (const auto& [name, cell] : plain_cells())
      if (name == options.cell) cell_ = cell;
    for (size_t i = 0; i < options.hidden.size(); ++i) {
      // "Major-Minor LSTMs", section 3: of S units, round(S R) are the major cell's.
      const double ratio = options.major_ratio.size() == 1 ? options.major_ratio[0] : options.major_ratio[i];
      const int64_t units = options.hidden[i],
                    major = static_cast<int64_t>(std::floor(static_cast<double>(units) * ratio + 0.5));
      add_cell(i, false, major);
      if (major < units) add_cell(i, true, units - major);
    }
  }

  /// Of one stream, zeros: layer by layer the major cell's, then the minor one's.
  std::vector<PlainState> start() const {
    std::vector<PlainState> states;
    constexpr int64_t any_vocabulary = 100;
    const LanguageModel sizes(options_, any_vocabulary, 1, Device::meta);
    for (const Cell* cell : sizes.cells()) {
      PlainState& state = states.emplace_back();
      for (const StateTensor& it : cell->state_tensors())
        (it.name == "h" ? state.h : it.name == "c" ? state.c : state.others[it.name]).resize(it.width);
    }
    return states;
  }

  Vector embedding_of(int32_t symbol) const {
    const auto row = parameters_.at("embedding.weight").begin() + symbol * options_.embedding;
    return {row, row + options_.embedding};
  }

  /// The last layer's output after x; the states go on. `between` is given what a layer reads from the one
  /// before, to change it, and the layer's number.
  Vector read(
      const Vector& x, std::vector<PlainState>& states,
      const std::function<void(Vector&, size_t)>& between = [](Vector&, size_t) {}) const {
    Vector below, output;
    for (size_t k = 0; k < parts_.size(); ++k) {
      const Part& it = parts_[k];
      if (it.layer > 0 && !it.minor) {
        below = std::exchange(output, {});
        between(below, it.layer);
      }
      PlainState& state = states[k];
      state = cell_(it.cell, it.reads_x ? x : below, state, state.h);
      output.insert(output.end(), state.h.begin(), state.h.end());  // [major ; minor]
    }
    return output;
  }

  /// p(symbol) given the last layer's output. `at_latents` is given what a mixture's softmaxes see, to
  /// change it.
  Number probability(
      Vector u, int32_t symbol, const std::function<void(Vector&)>& at_latents = [](Vector&) {}) const {
    for (size_t i = 0; i < options_.output_layers.size(); ++i)
      u = layer("output_layer_" + std::to_string(i), u, options_.output_activation == OutputActivation::tanh);
    if (options_.output == OutputKind::adaptive) return adaptive_softmax(u, symbol);
    if (options_.experts == 1) return softmax(u, symbol);
    // Yang et al. 2018: sum_k pi_k softmax(W h_k + b), h = tanh(W_h u + b_h), pi = softmax(W_pi u).
    Vector latents = layer("mixture.latent", u, true);
    at_latents(latents);
    const Vector& prior = parameters_.at("mixture.prior.weight");
    Number sum = 0, weighted = 0;
    for (int64_t k = 0; k < options_.experts; ++k) {
      const Number share =
          std::exp(std::inner_product(u.begin(), u.end(), prior.begin() + k * std::ssize(u), Number(0)));
      const auto begin = latents.begin() + k * options_.embedding;
      sum += share;
      weighted += share * softmax({begin, begin + options_.embedding}, symbol);
    }
    return weighted / sum;
  }

 private:
  struct Part {
    size_t layer;
    bool minor, reads_x;
    PlainLayer cell;
  };

  void add_cell(size_t layer, bool minor, int64_t units) {
    const std::string suffix = "_l" + std::to_string(layer) + (minor ? "_minor" : "");
    const bool reads_x = layer == 0 || (minor && options_.minor_input == MinorInput::embedding);
    Part part{
        layer, minor, reads_x, {reads_x ? options_.embedding : options_.hidden[layer - 1], units, {}, {}}};
    for (const auto& [name, values] : parameters_)
      if (name.starts_with("rnn.") && name.ends_with(suffix))
        part.cell.named[name.substr(4, name.size() - 4 - suffix.size())] = values;
    parts_.push_back(part);
  }

  /// W u + b.
  static Vector affine(const Vector& W, const Vector& b, const Vector& u) {
    Vector y = b;
    for (size_t i = 0; i < y.size(); ++i)
      for (size_t j = 0; j < u.size(); ++j) y[i] += W[i * u.size() + j] * u[j];
    return y;
  }
  Vector layer(const std::string& module, const Vector& u, bool with_tanh) const {
    Vector y = affine(parameters_.at(module + ".weight"), parameters_.at(module + ".bias"), u);
    for (Number& it : y)
      if (with_tanh) it = std::tanh(it);
    return y;
  }
  Number softmax(const Vector& u, int32_t symbol) const {
    const Vector& W = parameters_.at(options_.tied ? "embedding.weight" : "decoder.weight");
    const Vector logits = affine(W, parameters_.at("decoder.bias"), u);
    Number sum = 0;
    for (const Number& logit : logits) sum += std::exp(logit);
    return std::exp(logits[static_cast<size_t>(symbol)]) / sum;
  }

  /// Grave et al. 2017: with the probability of its cluster, that of the symbol in the cluster.
  Number adaptive_softmax(const Vector& u, int32_t symbol) const {
    const auto product = [&](const std::string& weight, const Vector& x) {
      const Vector& W = parameters_.at("decoder." + weight + ".weight");
      return affine(W, Vector(W.size() / x.size()), x);
    };
    const auto share = [](const Vector& logits, int64_t i) {
      Number sum = 0;
      for (const Number& logit : logits) sum += std::exp(logit);
      return std::exp(logits[static_cast<size_t>(i)]) / sum;
    };
    const std::vector<int64_t>& cutoffs = options_.adaptive.cutoffs;
    const Vector head = product("head", u);
    if (symbol < cutoffs[0]) return share(head, symbol);
    int64_t cluster = 0;
    while (cluster + 1 < std::ssize(cutoffs) && cutoffs[cluster + 1] <= symbol) ++cluster;
    const std::string tail = "tail." + std::to_string(cluster);
    return share(head, cutoffs[0] + cluster) *
           share(product(tail + ".1", product(tail + ".0", u)), symbol - cutoffs[cluster]);
  }

  const LanguageModelOptions& options_;
  const Parameters& parameters_;
  PlainCell cell_;
  std::vector<Part> parts_;
};

}  // namespace rondo

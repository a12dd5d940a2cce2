// The whole language model as plain loops over complex numbers, from a symbol to the probability of the next
// one: recurrent layers, Major-Minor ones too, tanh layers and a mixture of softmaxes before the output, an
// adaptive softmax.
// Written from the papers; of nn/ it knows only the names of options and parameters. It drops nothing itself.
// Next: plain_cells.h.
#pragma once

#include <numbers>

#include "nn/models/language_model.h"
#include "tests/nn/models/plain_model.h"

namespace rondo {

class PlainLanguageModel : PlainModel {
 public:
  /// Both must live on.
  PlainLanguageModel(const LanguageModelOptions& options, const Parameters& parameters)
      : PlainModel(parameters), options_(options), cell_(plain_cell(options.cell)) {
    for (size_t i = 0; i < options.hidden.size(); ++i) {
      // "Major-Minor LSTMs", section 3: of S units, round(S R) are the major cell's.
      const double ratio = options.major_ratio.size() == 1 ? options.major_ratio[0] : options.major_ratio[i];
      const int64_t units = options.hidden[i],
                    major = static_cast<int64_t>(std::floor(static_cast<double>(units) * ratio + 0.5));
      if (options.block.kind == BlockKind::residual) {
        if (options.block.convolution) add_of_block(i, "_convolution", units);
        add_of_block(i, "", std::llround(static_cast<double>(units) * options.block.expansion));
        continue;
      }
      add_cell(i, false, major);
      if (major < units) add_cell(i, true, units - major);
    }
  }

  /// Of one stream, trained or zeros: layer by layer the major cell's, then the minor one's.
  std::vector<PlainState> start() const {
    std::vector<PlainState> states;
    constexpr int64_t any_vocabulary = 100;
    const LanguageModel sizes(options_, any_vocabulary, 1, Device::meta);
    for (const Cell* cell : sizes.cells()) {
      PlainState& state = states.emplace_back();
      for (const StateTensor& it : cell->state_tensors()) {
        const PlainLayer& layer = parts_[states.size() - 1].cell;
        (it.name == "h"   ? state.h
         : it.name == "c" ? state.c
                          : state.others[it.name]) =
            layer.has(it.name + "0") ? layer[it.name + "0"] : Vector(static_cast<size_t>(it.width));
      }
    }
    return states;
  }

  /// Without an embedding, one-hot.
  Vector embedding_of(int32_t symbol) const {
    if (options_.embedding > 0) return row_of("embedding.weight", symbol, options_.embedding);
    Vector x(at("decoder.bias").size());
    x[static_cast<size_t>(symbol)] = 1;
    return x;
  }

  /// The last layer's output after x; the states go on. `between` is given what a layer reads from the one
  /// before, to change it, and the layer's number.
  Vector read(
      const Vector& x, std::vector<PlainState>& states,
      const std::function<void(Vector&, size_t)>& between = [](Vector&, size_t) {}) const {
    if (options_.block.kind == BlockKind::residual) return read_blocks(x, states, between);
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
      u = dense("output_layer_" + std::to_string(i), u, options_.output_activation == OutputActivation::tanh);
    if (options_.output == OutputKind::adaptive) return adaptive_softmax(u, symbol);
    if (options_.experts == 1) return softmax(u, symbol);
    // Yang et al. 2018: sum_k pi_k softmax(W h_k + b), h = tanh(W_h u + b_h), pi = softmax(W_pi u).
    Vector latents = dense("mixture.latent", u, true);
    at_latents(latents);
    const Vector& prior = at("mixture.prior.weight");
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
    const int64_t input = reads_x ? options_.embedding : options_.hidden[layer - 1];
    parts_.push_back({layer, minor, reads_x, layer_of("rnn", suffix, input, units)});
  }

  void add_of_block(size_t layer, const std::string& kind, int64_t units) {
    const std::string suffix = kind + "_l" + std::to_string(layer);
    parts_.push_back({layer, false, false, layer_of("rnn", suffix, options_.embedding, units)});
  }

  /// De et al. 2024, figure 2; `between` may change what is added, in order.
  Vector read_blocks(Vector y, std::vector<PlainState>& states,
                     const std::function<void(Vector&, size_t)>& between) const {
    const auto gelu = [](Number a) {
      return 0.5 * a * (1.0 + std::tanh(std::sqrt(2 / std::numbers::pi) * (a + 0.044715 * a * a * a)));
    };
    const auto gated = [&](const Vector& a, const Vector& b) {
      Vector result;
      for (size_t j = 0; j < a.size(); ++j) result.push_back(gelu(a[j]) * b[j]);
      return result;
    };
    size_t sums = 0, k = 0;
    const auto add = [&](Vector added) {
      between(added, ++sums);
      for (size_t j = 0; j < y.size(); ++j) y[j] += added[j];
    };
    for (size_t i = 0; i < options_.hidden.size(); ++i) {
      const std::string block = "rnn.block_l" + std::to_string(i) + ".";
      const auto linear = [&](const std::string& name, const Vector& u) {
        return product(block + name + ".weight", u, block + name + ".bias");
      };
      const Vector u = layer_norm(block + "norm", y);
      Vector h = u;
      for (; k < parts_.size() && parts_[k].layer == i; ++k) {
        const bool convolves = options_.block.convolution && (k == 0 || parts_[k - 1].layer < i);
        states[k] =
            (convolves ? plain_cell("convolution") : cell_)(parts_[k].cell, h, states[k], states[k].h);
        h = states[k].h;
      }
      if (options_.block.gate) h = gated(linear("gate", u), h);
      add(options_.block.gate || h.size() != y.size() ? linear("out", h) : h);
      if (options_.block.feed_forward == 0) continue;
      const Vector v = layer_norm(block + "feed_norm", y);
      add(linear("feed_out", gated(linear("feed_gate", v), linear("feed_in", v))));
    }
    return layer_norm("rnn.norm", y);
  }
  Vector layer_norm(const std::string& module, const Vector& x) const {
    return normalized(x, at(module + ".weight"), at(module + ".bias"));
  }

  Vector dense(const std::string& module, const Vector& u, bool with_tanh) const {
    const Vector y = product(module + ".weight", u, module + ".bias");
    return with_tanh ? tanh_of(y) : y;
  }
  static Number share_of(const Vector& logits, int64_t i) {
    return std::exp(log_softmax_of(logits)[static_cast<size_t>(i)]);
  }
  Number softmax(const Vector& u, int32_t symbol) const {
    return share_of(product(options_.tied ? "embedding.weight" : "decoder.weight", u, "decoder.bias"),
                    symbol);
  }

  /// Grave et al. 2017: with the probability of its cluster, that of the symbol in the cluster.
  Number adaptive_softmax(const Vector& u, int32_t symbol) const {
    const std::vector<int64_t>& cutoffs = options_.adaptive.cutoffs;
    const Vector head = product("decoder.head.weight", u);
    if (symbol < cutoffs[0]) return share_of(head, symbol);
    int64_t cluster = 0;
    while (cluster + 1 < std::ssize(cutoffs) && cutoffs[cluster + 1] <= symbol) ++cluster;
    const std::string tail = "decoder.tail." + std::to_string(cluster);
    const Vector of_cluster = product(tail + ".1.weight", product(tail + ".0.weight", u));
    return share_of(head, cutoffs[0] + cluster) * share_of(of_cluster, symbol - cutoffs[cluster]);
  }

  const LanguageModelOptions& options_;
  PlainCell cell_;
  std::vector<Part> parts_;
};

}  // namespace rondo

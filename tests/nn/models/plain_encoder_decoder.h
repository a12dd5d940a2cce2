// The encoder-decoder as plain loops over complex numbers, for one pair of sentences without padding. Written
// from the equations of Luong et al. 2015 and Bahdanau et al. 2015; of nn/ it knows only the names of options
// and parameters. It has no dropout. Next: tests/nn/cells/plain_cells.h.
#pragma once

#include <algorithm>
#include <cmath>

#include "nn/models/encoder_decoder.h"
#include "tests/nn/cells/plain_gradients.h"

namespace rondo {

class PlainEncoderDecoder {
 public:
  /// Both must outlive it.
  PlainEncoderDecoder(const EncoderDecoderOptions& options, const Parameters& parameters)
      : options_(options), parameters_(parameters) {
    for (const auto& [name, cell] : plain_cells())
      if (name == options.cell) cell_ = cell;
  }

  struct Step {
    Vector log_p;      // of each symbol of the target
    Vector attention;  // to each state of the source; empty without attention
  };
  /// One step after each of the `inputs`.
  std::vector<Step> read(const std::vector<int32_t>& source, const std::vector<int32_t>& inputs) const {
    const auto [h, last] = encode(source);
    std::vector<PlainState> states = first_states(last);
    Vector readout(static_cast<size_t>(options_.readout_width()));
    std::vector<Step> steps;
    for (const int32_t input : inputs) {
      Vector x = row_of("target_embedding.weight", input);
      if (options_.attention == Score::none) append(x, last.back().h);
      if (options_.input_feeding) append(x, readout);
      for (size_t i = 0; i < states.size(); ++i) {
        const PlainLayer layer = layer_of("decoder.", "_l" + std::to_string(i), std::ssize(x));
        states[i] = cell_(layer, x, states[i], states[i].h);
        x = states[i].h;
      }
      Step& step = steps.emplace_back();
      Vector joined = last.back().h;  // [c ; s]
      if (options_.attention != Score::none) {
        step.attention = attention(x, h);
        joined = Vector(h[0].size());
        for (size_t s = 0; s < h.size(); ++s)
          for (size_t j = 0; j < joined.size(); ++j) joined[j] += step.attention[s] * h[s][j];
      }
      append(joined, x);
      readout = tanh_of(product("W_c", joined));
      const bool tied = options_.tied != TiedTables::none;
      step.log_p = product(tied ? "target_embedding.weight" : "output.weight", readout, "output.bias");
      Number sum = 0;
      for (const Number& logit : step.log_p) sum += std::exp(logit);
      for (Number& logit : step.log_p) logit -= std::log(sum);
    }
    return steps;
  }

 private:
  /// h_1 .. h_S of the last layer, and the last state of each layer, both directions side by side.
  std::pair<std::vector<Vector>, std::vector<PlainState>> encode(const std::vector<int32_t>& source) const {
    const bool shared = options_.tied == TiedTables::all;
    std::vector<Vector> h;
    for (const int32_t id : source)
      h.push_back(row_of(shared ? "target_embedding.weight" : "source_embedding.weight", id));
    std::vector<PlainState> last;
    for (int64_t i = 0; i < options_.encoder_layers; ++i) {
      const std::string suffix = "_l" + std::to_string(i);
      PlainState ahead = zeros(encoder_units());
      std::vector<Vector> output;
      const PlainLayer forward = layer_of("encoder.", suffix, std::ssize(h[0]));
      for (const Vector& x : h) {
        ahead = cell_(forward, x, ahead, ahead.h);
        output.push_back(ahead.h);
      }
      if (options_.bidirectional) {
        PlainState back = zeros(encoder_units());
        const PlainLayer reverse = layer_of("encoder.", suffix + "_reverse", std::ssize(h[0]));
        for (size_t s = h.size(); s-- > 0;) {
          back = cell_(reverse, h[s], back, back.h);
          append(output[s], back.h);
        }
        append(ahead.h, back.h), append(ahead.c, back.c);
      }
      h = output;
      last.push_back(ahead);
    }
    return {h, last};
  }

  std::vector<PlainState> first_states(const std::vector<PlainState>& last) const {
    std::vector<PlainState> first;
    for (int64_t i = 0; i < options_.decoder_layers; ++i) {
      PlainState state = last[static_cast<size_t>(std::min(i, options_.encoder_layers - 1))];
      const auto bridged = [&](Vector& u, const std::string& name) {
        const std::string bridge = "bridge." + name + "_l" + std::to_string(i);
        if (options_.bridge == Bridge::zeros) u = Vector(u.size());
        if (options_.bridge == Bridge::linear && !u.empty())
          u = tanh_of(product(bridge + ".weight", u, bridge + ".bias"));
      };
      bridged(state.h, "h"), bridged(state.c, "c");
      first.push_back(state);
    }
    return first;
  }

  /// softmax over s of score(q, h_s).
  Vector attention(const Vector& q, const std::vector<Vector>& h) const {
    Vector weights;
    for (const Vector& state : h) {
      Number score = 0;
      if (options_.attention == Score::additive) {
        Vector inner = product("attention.W_a", q);
        const Vector of_source = product("attention.U_a", state);
        for (size_t i = 0; i < inner.size(); ++i) inner[i] += of_source[i];
        score = product("attention.v_a", tanh_of(inner))[0];
      } else {
        const Vector key = options_.attention == Score::general ? product("attention.W_a", state) : state;
        for (size_t i = 0; i < q.size(); ++i) score += q[i] * key[i];
      }
      weights.push_back(std::exp(score));
    }
    const Number sum = std::accumulate(weights.begin(), weights.end(), Number(0));
    for (Number& weight : weights) weight /= sum;
    return weights;
  }

  int64_t encoder_units() const { return options_.bidirectional ? options_.hidden / 2 : options_.hidden; }
  PlainState zeros(int64_t units) const {
    const bool has_c = options_.cell != "gru" && options_.cell != "mi_gru" && options_.cell != "rnn";
    return {Vector(static_cast<size_t>(units)), Vector(static_cast<size_t>(has_c ? units : 0))};
  }
  PlainLayer layer_of(const std::string& stack, const std::string& suffix, int64_t input) const {
    PlainLayer layer{input, stack == "encoder." ? encoder_units() : options_.hidden, {}, {}};
    for (const auto& [name, values] : parameters_)
      if (name.starts_with(stack) && name.ends_with(suffix))
        layer.named[name.substr(stack.size(), name.size() - stack.size() - suffix.size())] = values;
    return layer;
  }

  static void append(Vector& to, const Vector& more) { to.insert(to.end(), more.begin(), more.end()); }
  static Vector tanh_of(Vector u) {
    for (Number& it : u) it = std::tanh(it);
    return u;
  }
  Vector row_of(const std::string& table, int32_t id) const {
    const auto row = parameters_.at(table).begin() + id * options_.embedding;
    return {row, row + options_.embedding};
  }
  /// W u, or W u + b.
  Vector product(const std::string& matrix, const Vector& u, const std::string& bias = "") const {
    const Vector& W = parameters_.at(matrix);
    Vector y = bias.empty() ? Vector(W.size() / u.size()) : parameters_.at(bias);
    for (size_t i = 0; i < y.size(); ++i)
      for (size_t j = 0; j < u.size(); ++j) y[i] += W[i * u.size() + j] * u[j];
    return y;
  }

  const EncoderDecoderOptions& options_;
  const Parameters& parameters_;
  PlainCell cell_;
};

}  // namespace rondo

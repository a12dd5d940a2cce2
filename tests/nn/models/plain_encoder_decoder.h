// The encoder-decoder as plain loops over complex numbers, for one pair of sentences without padding. Written
// from the equations of Luong et al. 2015 and Bahdanau et al. 2015; of nn/ it knows only the names of options
// and parameters. It has no dropout. Next: tests/nn/cells/plain_cells.h.
#pragma once

#include "nn/models/encoder_decoder.h"
#include "tests/nn/models/plain_model.h"

namespace rondo {

class PlainEncoderDecoder : PlainModel {
 public:
  /// Both must outlive it.
  PlainEncoderDecoder(const EncoderDecoderOptions& options, const Parameters& parameters)
      : PlainModel(parameters), options_(options) {}

  struct Step {
    Vector log_p;      // of each symbol of the target
    Vector attention;  // to each state of the source; empty without attention
  };
  /// One step after each of the `inputs`.
  std::vector<Step> read(const std::vector<int32_t>& source, const std::vector<int32_t>& inputs) const {
    const bool shared = options_.tied == TiedTables::all;
    const PlainStack encoder{"encoder", options_.cell, options_.encoder_layers, options_.hidden,
                             options_.bidirectional};
    const auto [h, last] = PlainModel::read(
        encoder,
        rows_of(shared ? "target_embedding.weight" : "source_embedding.weight", source, options_.embedding));
    std::vector<PlainState> states = first_states(last);
    const PlainCell cell = plain_cell(options_.cell);
    Vector readout(static_cast<size_t>(options_.readout_width()));
    std::vector<Step> steps;
    for (const int32_t input : inputs) {
      Vector x = row_of("target_embedding.weight", input, options_.embedding);
      if (options_.attention == Score::none) append(x, last.back().h);
      if (options_.input_feeding) append(x, readout);
      for (size_t i = 0; i < states.size(); ++i) {
        const PlainLayer layer =
            layer_of("decoder", "_l" + std::to_string(i), std::ssize(x), options_.hidden);
        states[i] = cell(layer, x, states[i], states[i].h);
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
      step.log_p =
          log_softmax_of(product(tied ? "target_embedding.weight" : "output.weight", readout, "output.bias"));
    }
    return steps;
  }

 private:
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
  Vector attention(const Vector& q, const Rows& h) const {
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

  const EncoderDecoderOptions& options_;
};

}  // namespace rondo

// A stack of RNN layers in one direction or both as plain loops, for the tests of models of whole sequences.
#pragma once

#include <cmath>
#include <vector>

#include "nn/models/sequence_model.h"
#include "tests/nn/parameters.h"

namespace rondo {

using Numbers = std::vector<double>;

/// Element (i, j) of a weight, or element j of a bias with i = 0; biases that are there once or twice add up.
struct Weights {
  const Module& model;
  double operator()(const std::string& name, int64_t i, int64_t j) const {
    const Tensor it = value_of(model, name);
    return it.data()[place_of(it, i * it.columns() + j)];
  }
  double bias(const std::string& layer, int64_t j) const {
    double sum = 0;
    for (const char* name : {"bias", "bias_ih", "bias_hh"}) {
      const std::string full = fmt::format("recurrent.{}{}", name, layer);
      if (has_parameter(model, full)) sum += (*this)(full, 0, j);
    }
    return sum;
  }
};

/// h_t = tanh(W x_t + U h_(t-1) + b) of one direction, in the order of x.
inline std::vector<Numbers> plain_rnn(const Weights& weight, const std::string& layer,
                                      const std::vector<Numbers>& x, int64_t H, bool reverse) {
  std::vector<Numbers> h(x.size());
  Numbers before(static_cast<size_t>(H), 0.0);
  for (size_t step = 0; step < x.size(); ++step) {
    const size_t t = reverse ? x.size() - 1 - step : step;
    Numbers now;
    for (int64_t j = 0; j < H; ++j) {
      double z = weight.bias(layer, j);
      for (size_t i = 0; i < x[t].size(); ++i)
        z += weight("recurrent.weight_ih" + layer, j, static_cast<int64_t>(i)) * x[t][i];
      for (int64_t i = 0; i < H; ++i)
        z += weight("recurrent.weight_hh" + layer, j, i) * before[static_cast<size_t>(i)];
      now.push_back(std::tanh(z));
    }
    h[t] = before = now;
  }
  return h;
}

/// The states of the last layer of a stack whose parameters are called recurrent.*, of one sequence.
inline std::vector<Numbers> plain_stack(const Weights& weight, const SentenceOptions& options, int64_t layers,
                                        std::vector<Numbers> states) {
  const int64_t H = options.bidirectional ? options.hidden / 2 : options.hidden;
  for (int64_t layer = 0; layer < layers; ++layer) {
    const std::string suffix = fmt::format("_l{}", layer);
    std::vector<Numbers> h = plain_rnn(weight, suffix, states, H, false);
    if (options.bidirectional) {
      const std::vector<Numbers> back = plain_rnn(weight, suffix + "_reverse", states, H, true);
      for (size_t t = 0; t < h.size(); ++t) h[t].insert(h[t].end(), back[t].begin(), back[t].end());
    }
    states = h;
  }
  return states;
}

}  // namespace rondo

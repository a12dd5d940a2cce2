// What tests of models of whole sequences share: a stack of RNN layers in one direction or both as plain
// loops, batches with padding, and a loss with its gradients.
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
  double bias(const std::string& stack, const std::string& layer, int64_t j) const {
    double sum = 0;
    for (const char* name : {"bias", "bias_ih", "bias_hh"}) {
      const std::string full = fmt::format("{}.{}{}", stack, name, layer);
      if (has_parameter(model, full)) sum += (*this)(full, 0, j);
    }
    return sum;
  }
};

/// h_t = tanh(W x_t + U h_(t-1) + b) of one direction, in the order of x; h_0 is trained or 0.
inline std::vector<Numbers> plain_rnn(const Weights& weight, const std::string& stack,
                                      const std::string& layer, const std::vector<Numbers>& x, int64_t H,
                                      bool reverse) {
  std::vector<Numbers> h(x.size());
  Numbers before(static_cast<size_t>(H), 0.0);
  if (const std::string h0 = stack + ".h0" + layer; has_parameter(weight.model, h0))
    for (int64_t j = 0; j < H; ++j) before[static_cast<size_t>(j)] = weight(h0, 0, j);
  for (size_t step = 0; step < x.size(); ++step) {
    const size_t t = reverse ? x.size() - 1 - step : step;
    Numbers now;
    for (int64_t j = 0; j < H; ++j) {
      double z = weight.bias(stack, layer, j);
      for (size_t i = 0; i < x[t].size(); ++i)
        z += weight(stack + ".weight_ih" + layer, j, static_cast<int64_t>(i)) * x[t][i];
      for (int64_t i = 0; i < H; ++i)
        z += weight(stack + ".weight_hh" + layer, j, i) * before[static_cast<size_t>(i)];
      now.push_back(std::tanh(z));
    }
    h[t] = before = now;
  }
  return h;
}

/// The states of the last layer of a stack, of one sequence.
inline std::vector<Numbers> plain_stack(const Weights& weight, const SentenceOptions& options, int64_t layers,
                                        std::vector<Numbers> states, const std::string& stack = "recurrent") {
  const int64_t H = options.bidirectional ? options.hidden / 2 : options.hidden;
  for (int64_t layer = 0; layer < layers; ++layer) {
    const std::string suffix = fmt::format("_l{}", layer);
    std::vector<Numbers> h = plain_rnn(weight, stack, suffix, states, H, false);
    if (options.bidirectional) {
      const std::vector<Numbers> back = plain_rnn(weight, stack, suffix + "_reverse", states, H, true);
      for (size_t t = 0; t < h.size(); ++t) h[t].insert(h[t].end(), back[t].begin(), back[t].end());
    }
    states = h;
  }
  return states;
}

/// The vectors of symbols.
inline std::vector<Numbers> plain_embedding(const Weights& weight, const std::vector<int32_t>& ids,
                                            int64_t E) {
  std::vector<Numbers> vectors;
  for (const int32_t id : ids) {
    vectors.emplace_back();
    for (int64_t e = 0; e < E; ++e) vectors.back().push_back(weight("embedding.weight", id, e));
  }
  return vectors;
}

/// Sentences as one batch of `steps`; behind their ends stands the symbol `padding`.
inline SentenceInput batch_of(const std::vector<std::vector<int32_t>>& sentences, int64_t steps,
                              int32_t padding) {
  std::vector<int32_t> ids;
  Lengths lengths;
  for (int64_t t = 0; t < steps; ++t)
    for (const auto& it : sentences) ids.push_back(t < std::ssize(it) ? it[static_cast<size_t>(t)] : padding);
  for (const auto& it : sentences) lengths.push_back(std::ssize(it));
  return {tokens(ids), steps, std::ssize(sentences), lengths};
}

/// All gradients of a loss over B sequences, and the loss, with the random numbers of one update.
inline std::vector<real> gradients_and_loss(Module& model, int64_t B, const std::function<Variable()>& loss) {
  fill(model.gradients(), 0);
  model.begin_update({.seed = 3, .update = 1, .slice = {B, 0, B}});
  const Variable value = loss();
  value.backward();
  std::vector<real> numbers = model.gradients().to_vector();
  numbers.push_back(value.value().item());
  return numbers;
}

}  // namespace rondo

// Solutions of docs/tour/7_training_step.md.
#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "autograd/cross_entropy.h"
#include "nn/layers/embedding.h"
#include "nn/layers/linear.h"
#include "nn/recurrent/recurrent_layer.h"
#include "optim/optimizer.h"
#include "optim/step_control.h"

namespace rondo::tour {

struct CharacterModel : Module {
  static constexpr int64_t H = 32;
  explicit CharacterModel(int64_t V) : characters(*this, "encoder", V, H), decoder(*this, "decoder", H, V) {
    finalize(1);
  }

  /// The mean loss of text[1], text[2], .. in nats, each predicted from those before it; B = 1.
  Variable loss_of(const std::vector<int32_t>& text) {
    const int64_t T = std::ssize(text) - 1;
    const Variable x = reshape(characters(tokens({text.begin(), text.end() - 1})), {T, 1, H});
    const Variable h = rnn(x, {Tensor::zeros({1, H}), Tensor::zeros({1, H})}).output;
    return mean(cross_entropy(decoder(reshape(h, {T, H})), tokens({text.begin() + 1, text.end()})));
  }

  Embedding characters;
  RecurrentLayer rnn{*this, "lstm", "_l0", pytorch_cell(H, H)};
  Linear decoder;
};

/// 7.1: w and b after a step of SGD on (y - 3)^2 with y = w x + b, at x = 2.
inline std::pair<double, double> step_of_sgd(double w, double b, double rate) {
  const double error = w * 2 + b - 3;
  return {w - rate * 2 * error * 2, b - rate * 2 * error};
}

/// 7.2: scales the gradients, a vector, so that their norm is `largest`, if it is above that.
inline void clip(const Tensor& gradients, double largest) {
  double squares = 0;
  for (const real it : gradients.to_vector()) squares += it * it;
  const double scale = largest / std::sqrt(squares);
  real* g = gradients.mutable_data();
  for (int64_t i = 0; scale < 1 && i < gradients.size(); ++i) g[i] *= static_cast<real>(scale);
}

/// 7.3: trains the model on the text by Adam, and returns the loss before each update.
inline std::vector<double> train(CharacterModel& model, const std::vector<int32_t>& text, int updates) {
  const auto adam = make_optimizer({.kind = OptimizerKind::adam}, model.values(), model.gradients());
  std::vector<double> losses;
  for (int update = 0; update < updates; ++update) {
    adam->zero_gradients();
    const Variable loss = model.loss_of(text);
    losses.push_back(loss.value().item());
    loss.backward();
    clip_gradient_norm(model.gradients(), 1);
    adam->step(0.01);
  }
  return losses;
}

}  // namespace rondo::tour

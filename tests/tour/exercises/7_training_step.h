// Exercises of docs/tour/7_training_step.md.
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
  throw Error("exercise 7.1 is not written yet");
}

/// 7.2: scales the gradients, a vector, so that their norm is `largest`, if it is above that.
inline void clip(const Tensor& gradients, double largest) { throw Error("exercise 7.2 is not written yet"); }

/// 7.3: trains the model on the text by Adam, and returns the loss before each update.
inline std::vector<double> train(CharacterModel& model, const std::vector<int32_t>& text, int updates) {
  throw Error("exercise 7.3 is not written yet");
}

}  // namespace rondo::tour

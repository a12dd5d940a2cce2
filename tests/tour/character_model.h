// Exercise 3 of docs/tour/7_training_step.md trains this model.
#pragma once

#include <vector>

#include "nn/layers/embedding.h"
#include "nn/layers/linear.h"
#include "nn/recurrent/recurrent_layer.h"

namespace rondo::tour {

/// A language model of characters: an embedding, an LSTM and an output layer of V characters.
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

}  // namespace rondo::tour

// The simple recurrent network (Elman 1990).
//
//   h' = tanh(W x + U h + b), or with ReLU in place of tanh
//
// weight_ih is W [H, I], weight_hh is U [H, H], as in PyTorch's nn.RNN. Another join replaces the sum,
// another recurrent input replaces h. Next: nn/cells/lstm.h.
#pragma once

#include <type_traits>

#include "autograd/operators/functions.h"
#include "nn/cells/join.h"

namespace rondo {

enum class RnnActivation { tanh, relu };
inline std::vector<std::string> names_of(RnnActivation) { return {"tanh", "relu"}; }

struct RnnSettings {
  RnnActivation activation = RnnActivation::tanh;
};
inline Keys keys_of(RnnSettings& it) {
  return {{"activation", choice(it.activation), "of the state, as nn.RNN's nonlinearity in PyTorch"}};
}

/// Each names the function that makes the state of the pre-activations, and has its settings.
struct TanhAlone {
  using Settings = SettingsOf<>;
};
struct TanhOrRelu {
  using Settings = SettingsOf<RnnSettings>;
};
struct Identity {
  using Settings = SettingsOf<>;
};

template <class Join = Sum, class RecurrentInput = PreviousState, class Activation = TanhAlone>
struct Rnn : Cell {
  using Settings = SettingsOfParts<Join, RecurrentInput, Activation>;
  static_assert(!Join::looks_across_rows, "batch normalisation is for the gates of an LSTM");

  using Cell::Cell;

  State step(StepInputs& x, const State& previous) override {
    const Variable& seen = past(x, previous);
    Variable z = join(x, W, seen, U, 0, hidden());
    if constexpr (std::is_same_v<Activation, Identity>) return {z};
    return {is_relu ? pointwise_into(x.out, Relu{}, z) : pointwise_into(x.out, Tanh{}, z)};
  }

  const bool is_relu = settings<RnnSettings>().activation == RnnActivation::relu;
  const GateRows gates{hidden()};
  Join join{*this, {gates}};
  Projection W{*this, "weight_ih", gates, join.biases_of_input(), RecurrentInput::reads};
  RecurrentInput past{*this};
  Recurrent U{*this, RecurrentInput::weight_name, gates, RecurrentInput::width(options)};
};

}  // namespace rondo

// The simple recurrent network (Elman 1990).
//
//   h' = tanh(W x + U h + b)
//
// weight_ih is W [H, I], weight_hh is U [H, H], as in PyTorch's nn.RNN. Another join replaces the sum,
// another recurrent input replaces h. Next: nn/cells/lstm.h.
#pragma once

#include "autograd/operators/functions.h"
#include "nn/cells/join.h"

namespace rondo {

enum class RnnActivation { tanh, identity };

template <class Join = Sum, class RecurrentInput = PreviousState,
          RnnActivation activation = RnnActivation::tanh>
struct Rnn : Cell {
  using Settings = SettingsOfParts<Join, RecurrentInput>;
  static_assert(!Join::looks_across_rows, "batch normalisation is for the gates of an LSTM");

  Rnn(Module& parent, const std::string& suffix, const CellOptions& cell_options)
      : Cell(parent, suffix, cell_options),
        join(*this, {gates}),
        W(*this, "weight_ih", gates, join.biases_of_input(), RecurrentInput::reads),
        past(*this),
        U(*this, RecurrentInput::weight_name, gates, RecurrentInput::width(options)) {}

  State step(StepInputs& x, const State& previous) override {
    const Variable& seen = past(x, previous);
    Variable z = join(x, W, seen, U, 0, hidden());
    return {activation == RnnActivation::tanh ? pointwise_into(x.out, Tanh{}, z) : z};
  }

  const GateRows gates{hidden()};
  Join join;
  Projection W;
  RecurrentInput past;
  Recurrent U;
};

}  // namespace rondo

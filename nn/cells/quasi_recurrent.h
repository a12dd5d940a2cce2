// Quasi-recurrent network, fo-pooling. Bradbury, Merity, Xiong & Socher 2017, (1), (4).
//
//   z, f, o of step t = sum over j < k of W_j x_(t-j) + b
//   c' = s(f) c + (1 - s(f)) tanh(z)                  h' = s(o) c'
//
// No gate reads the state, so a whole sequence needs only k large products. k is the setting `window`.
// Stacked z f o: weight_ih is W_0 [3H, I], weight_ih_1 is W_1. The k - 1 inputs before a chunk are part of
// the state.
#pragma once

#include "nn/cells/gates.h"
#include "nn/cells/join.h"

namespace rondo {

struct QuasiRecurrentSettings {
  int64_t window = 2;
};
inline Keys keys_of(QuasiRecurrentSettings& it) {
  return {{"window", &it.window, between(1, 1000), "steps", "of the input that a step's gates see"}};
}

struct QuasiRecurrentNetwork : Cell {
  using Settings = SettingsOf<QuasiRecurrentSettings>;
  using Cell::Cell;

  std::vector<StateTensor> state_tensors() const override {
    std::vector<StateTensor> tensors = {{"h", hidden(), false}, {"c", hidden()}};
    if (window() > 1) tensors.push_back({"x", (window() - 1) * options.input_size, false});
    return tensors;
  }
  int64_t window() const override { return settings<QuasiRecurrentSettings>().window; }
  bool scans() const override { return true; }

  State step(StepInputs& x, const State& previous) override {
    const std::vector<Variable> gate = split(x.take(W), gates);
    const auto next = x.scan(QrnnGates{}, gate[0], gate[1], gate[2], previous.c);
    State state{next[0], next[1]};
    if (window() > 1) {
      const int64_t kept = (window() - 2) * options.input_size;
      const Variable& earlier = previous.other("x");
      state.others = {{"x", kept > 0 ? concat({x.input(), earlier.slice_columns(0, kept)}) : x.input()}};
    }
    return state;
  }

  const GateRows gates = GateRows(3, hidden());
  Parameter b{*this, "bias_ih", {sum_of(gates)}, options.biases};
  Projection W{*this, "weight_ih", gates, {&b}, Projection::Reads::input, window()};
};

}  // namespace rondo

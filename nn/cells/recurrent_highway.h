// Recurrent highway network. Zilly, Srivastava, Koutnik & Schmidhuber 2017, (6)-(9), with coupled gates
// (c = 1 - t). A step has L layers, l = 1 to L, from s_0 = h to h' = s_L:
//
//   n_l = tanh([l = 1] W_n x + R_nl s_(l-1) + b_nl)
//   t_l = s([l = 1] W_t x + R_tl s_(l-1) + b_tl)
//   s_l = n_l t_l + s_(l-1) (1 - t_l)
//
// Stacked n t: weight_ih is W [2H, I], weight_hh_l is R_l [2H, H], bias_l is b_l. b_t starts at
// transform_bias: with a negative value, layers initially copy their input. A variational mask on the state
// acts on s_0 only.
#pragma once

#include <memory>
#include <vector>

#include "nn/cells/gates.h"
#include "nn/cells/join.h"

namespace rondo {

struct RecurrentHighwaySettings {
  int64_t recurrence_depth = 5;
  double transform_bias = -2;
};
inline Keys keys_of(RecurrentHighwaySettings& it) {
  return {{"recurrence_depth", &it.recurrence_depth, between(1, 1000), "layers",
           "that a step of a recurrent highway network goes through"},
          {"transform_bias", &it.transform_bias, "initial bias of the gates that let new values in"}};
}

struct RecurrentHighwayNetwork : Cell {
  using Settings = SettingsOf<RecurrentHighwaySettings>;

  RecurrentHighwayNetwork(Module& parent, const std::string& suffix, const CellOptions& cell_options)
      : Cell(parent, suffix, cell_options), b(make_biases()), W(*this, "weight_ih", gates, {b[0].get()}) {
    for (size_t l = 1; l <= b.size(); ++l)
      R.push_back(std::make_unique<Recurrent>(*this, fmt::format("weight_hh_{}", l), gates, hidden()));
  }

  State step(StepInputs& x, const State& previous) override {
    Variable s = previous.h_unmasked(), seen = previous.h;
    for (size_t l = 0; l < R.size(); ++l) {
      const Variable z = l == 0 ? add_linear(x.take(W), seen, *R[0]) : linear(seen, *R[l], {*b[l]});
      const std::vector<Variable> gate = split(z, gates);
      s = seen = pointwise(HighwayUpdate{}, gate[0], gate[1], s);
    }
    return {s};
  }

  const GateRows gates = GateRows(2, hidden());
  std::vector<std::unique_ptr<Parameter>> b;
  Projection W;
  std::vector<std::unique_ptr<Recurrent>> R;

 private:
  std::vector<std::unique_ptr<Parameter>> make_biases() {
    const auto& [depth, transform_bias] = settings<RecurrentHighwaySettings>();
    const Initializer initializer = constant_values(0).with_offset(transform_bias, hidden(), 2 * hidden());
    std::vector<std::unique_ptr<Parameter>> biases;
    for (int64_t l = 1; l <= depth; ++l)
      biases.push_back(
          std::make_unique<Parameter>(*this, fmt::format("bias_{}", l), Shape{2 * hidden()}, initializer));
    return biases;
  }
};

}  // namespace rondo

// Simple recurrent unit: gates read the cell state elementwise only, so that a whole sequence needs one
// matrix product. Lei, Zhang, Wang, Dai & Artzi 2018, (1)-(4), with the scaled highway of section 3.2.
//
//   f = s(W_f x + v_f c + b_f)      r = s(W_r x + v_r c + b_r)
//   c' = f c + (1 - f) (W x)        h' = r c' + (1 - r) alpha x
//
// alpha = sqrt(1 + 2 exp(b)), where b is the initial value of b_r, highway_bias. Stacked W W_f W_r: weight_ih
// is [3H, I]; if x and h differ in size, a fourth block projects x for h' (section 3.1). v_f and v_r are
// vectors.
#pragma once

#include "nn/cells/cell.h"

namespace rondo {

struct SimpleRecurrentUnitSettings {
  double highway_bias = 0;
};
inline Keys keys_of(SimpleRecurrentUnitSettings& it) {
  return {{"highway_bias", &it.highway_bias, between(-20, 20), "",
           "initial bias of the gate between the state and the input that goes around it"}};
}

struct SimpleRecurrentUnit : Cell {
  using Settings = SettingsOf<SimpleRecurrentUnitSettings>;
  SimpleRecurrentUnit(Module& parent, const std::string& suffix, const CellOptions& options);
  std::vector<StateTensor> state_tensors() const override { return {{"h", hidden()}, {"c", hidden()}}; }
  bool reads_h() const override { return false; }
  State step(StepInputs& x, const State& previous) override;

  const bool input_fits = options.input_size == hidden();
  const GateRows gates = GateRows(input_fits ? 3 : 4, hidden());
  Projection W;
  Recurrent v_f, v_r;
  Parameter b_f, b_r;
};

}  // namespace rondo

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

#include <cmath>

#include "nn/cells/gates.h"
#include "nn/cells/join.h"

namespace rondo {

struct SimpleRecurrentUnitSettings {
  double highway_bias = 0;
};
inline Keys keys_of(SimpleRecurrentUnitSettings& it) {
  return {{"highway_bias", &it.highway_bias, between(-20, 20),
           "initial bias of the gate between the state and the input that goes around it"}};
}

struct SimpleRecurrentUnit : Cell {
  using Settings = SettingsOf<SimpleRecurrentUnitSettings>;
  using Cell::Cell;

  std::vector<StateTensor> state_tensors() const override {
    return {{"h", hidden(), false}, {"c", hidden()}};
  }
  bool scans() const override { return true; }

  State step(StepInputs& x, const State& previous) override {
    const std::vector<Variable> gate = split(x.take(W), gates);
    const auto alpha = static_cast<real>(std::sqrt(1 + 2 * std::exp(highway_bias)));
    const auto next = x.scan(SruGates{alpha}, gate[0], gate[1], gate[2], input_fits ? x.input() : gate[3],
                             previous.c, v_f, v_r, b_f, b_r);
    return {next[0], next[1]};
  }

  const double highway_bias = settings<SimpleRecurrentUnitSettings>().highway_bias;
  const bool input_fits = options.input_size == hidden();
  const GateRows gates = GateRows(input_fits ? 3 : 4, hidden());
  Projection W{*this, "weight_ih", gates};
  Recurrent v_f{*this, "weight_cf", hidden(), vectors()}, v_r{*this, "weight_cr", hidden(), vectors()};
  Parameter b_f{*this, "bias_f", {hidden()}, constant_values(0)};
  Parameter b_r{*this, "bias_r", {hidden()}, constant_values(highway_bias)};

 private:
  /// The initialiser of recurrent weights, unless it is orthogonal, which a vector cannot be.
  Initializer vectors() const {
    const Initializer& weights = options.recurrent_weights;
    return weights.kind == Initializer::Kind::orthogonal ? uniform_values(1 / std::sqrt(options.hidden_size))
                                                         : weights;
  }
};

}  // namespace rondo

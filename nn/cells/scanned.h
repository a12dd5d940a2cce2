// Cells whose large products read x alone, so that all steps of a sequence are one scan. Another:
// nn/cells/real_gated_linear_unit.h.
#pragma once

#include <cmath>

#include "nn/cells/gates.h"
#include "nn/cells/join.h"

namespace rondo {

// --- Minimal cells ---
// The minimal cells of Feng, Tung, Ahmed, Bengio & Hajimirsadeghi 2024, "Were RNNs All We Needed?" (arXiv
// 2410.01201): a GRU and an LSTM without tanh, whose gates read x alone, so that all steps are one scan.
//
//   minGRU   z = s(W_z x + b_z)     h' = (1 - z) h + z g(W_n x + b_n)
//   minLSTM  f = s(W_f x + b_f)     i = s(W_i x + b_i)
//            h' = f / (f + i) h + i / (f + i) g(W_n x + b_n)
//
// g(x) = x + 0.5 for x >= 0, else s(x) (appendix B.3). The paper computes the logarithm of h, to which this g
// belongs; from the same first h, here 0, the results are these in exact numbers. Stacked z n, or f i n:
// weight_ih is W [2H or 3H, I].

template <class Update, int gate_count>
struct MinimalCell : Cell {
  using Cell::Cell;

  bool scans() const override { return true; }

  State step(StepInputs& x, const State& previous) override {
    const std::vector<Variable> gate = split(x.take(W), gates);
    if constexpr (gate_count == 2)
      return {x.scan(Update{}, gate[0], gate[1], previous.h_unmasked())[0]};
    else
      return {x.scan(Update{}, gate[0], gate[1], gate[2], previous.h_unmasked())[0]};
  }

  const GateRows gates = GateRows(gate_count, hidden());
  Parameter b{*this, "bias_ih", {sum_of(gates)}, options.biases};
  Projection W{*this, "weight_ih", gates, {&b}};
};

using MinimalGru = MinimalCell<MinimalGruGates, 2>;
using MinimalLstm = MinimalCell<MinimalLstmGates, 3>;

// --- Quasi-recurrent network ---
// With fo-pooling: Bradbury, Merity, Xiong & Socher 2017, (1), (4).
//
//   z, f, o of step t = sum over j < k of W_j x_(t-j) + b
//   c' = s(f) c + (1 - s(f)) tanh(z)                  h' = s(o) c'
//
// No gate reads the state, so a whole sequence needs only k large products. k is the setting `window`.
// Stacked z f o: weight_ih is W_0 [3H, I], weight_ih_1 is W_1. The k - 1 inputs before a chunk are part of
// the state.

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

// --- Simple recurrent unit ---
// Gates read the cell state elementwise only, so that a whole sequence needs one matrix product: Lei, Zhang,
// Wang, Dai & Artzi 2018, (1)-(4), with the scaled highway of section 3.2.
//
//   f = s(W_f x + v_f c + b_f)      r = s(W_r x + v_r c + b_r)
//   c' = f c + (1 - f) (W x)        h' = r c' + (1 - r) alpha x
//
// alpha = sqrt(1 + 2 exp(b)), where b is the initial value of b_r, highway_bias. Stacked W W_f W_r: weight_ih
// is [3H, I]; if x and h differ in size, a fourth block projects x for h' (section 3.1). v_f and v_r are
// vectors.

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

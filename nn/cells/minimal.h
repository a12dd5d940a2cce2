// The minimal cells of Feng, Tung, Ahmed, Bengio & Hajimirsadeghi 2024, "Were RNNs All We Needed?" (arXiv
// 2410.01201): a GRU and an LSTM without tanh, whose gates read x alone, so that all steps are one scan.
//
//   minGRU   z = s(W_z x + b_z)     h' = (1 - z) h + z g(W_n x + b_n)
//   minLSTM  f = s(W_f x + b_f)     i = s(W_i x + b_i)
//            h' = f / (f + i) h + i / (f + i) g(W_n x + b_n)
//
// g(x) = x + 0.5 for x >= 0, else s(x) (appendix B.3). The paper computes the logarithm of h, to which this g
// belongs; from the same first h, here 0, the results are these in exact numbers. minLSTM is the one with
// "length independence scaling" (algorithm 7): its two gates sum to 1. Stacked z n, or f i n:
// weight_ih is W [2H or 3H, I].
#pragma once

#include "nn/cells/gates.h"
#include "nn/cells/join.h"

namespace rondo {

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

}  // namespace rondo

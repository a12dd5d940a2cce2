// sLSTM, the LSTM with exponential gates of Beck et al. 2024, "xLSTM" (arXiv 2405.04517), (8)-(17).
//
//   z = tanh(W_z x + R_z h + b_z)   o = s(W_o x + R_o h + b_o)
//   i = exp(W_i x + R_i h + b_i)    f = s(W_f x + R_f h + b_f)
//   c' = f c + i z                  n' = f n + i                    h' = o c' / n'
//
// Each head has gates and a state of its own, which the others do not read: R consists of blocks on the
// diagonal. c' and n' are divided by exp(m'), m' = max(log f + m, log i), which cancels out of h' (15)-(17);
// the first step takes log i, as the authors' code does. c' is the state "stored", no c that others may use,
// because m' scales it. The paper's f may be exponential as well; here it is the sigmoid. Its block, which
// normalises h head by head, is not part of the cell. The authors' code starts with R = 0 and biases of f
// that rise over the units of a head; here they start as those of other cells. Stacked head by head, of each
// i f z o: weight_ih is W [4H, I], weight_hh is R [4H, H / heads].
#pragma once

#include "nn/cells/gates.h"
#include "nn/cells/join.h"

namespace rondo {

struct ScalarLstmSettings {
  int64_t heads = 1;
};
inline Keys keys_of(ScalarLstmSettings& it) {
  return {{"heads", &it.heads, between(1, 1000), "parts of an sLSTM's state that do not read each other"}};
}

struct ScalarLstm : Cell {
  using Settings = SettingsOf<ScalarLstmSettings>;
  using Cell::Cell;

  std::vector<StateTensor> state_tensors() const override {
    // All begin with zeros: c and n are scaled by m, and n is positive.
    return {{"h", hidden()}, {"stored", hidden(), false}, {"n", hidden(), false}, {"m", hidden(), false}};
  }

  State step(StepInputs& x, const State& previous) override {
    std::vector<std::vector<Variable>> next(4);  // h', c', n', m', of each head
    for (int64_t head = 0; head < heads; ++head) {
      const auto of_head = [&](const Variable& all) {
        return heads == 1 ? all : all.slice_columns(head * units, (head + 1) * units);
      };
      const int64_t begin = 4 * head * units, end = begin + 4 * units;
      const std::vector<Variable> gate = split(
          add_linear(x.take(W, begin, end), of_head(previous.h), R.rows(begin, end)), GateRows(4, units));
      const auto parts = pointwise_outputs(ScalarLstmGates{}, gate[0], gate[1], gate[2], gate[3],
                                           of_head(previous.other("stored")), of_head(previous.other("n")),
                                           of_head(previous.other("m")));
      for (size_t k = 0; k < next.size(); ++k) next[k].push_back(parts[k]);
    }
    const auto joined = [&](size_t k) { return heads == 1 ? next[k][0] : concat(next[k]); };
    return {joined(0), {}, {{"stored", joined(1)}, {"n", joined(2)}, {"m", joined(3)}}};
  }

  const int64_t heads = hidden() == 1 ? 1 : settings<ScalarLstmSettings>().heads, units = units_of_head();
  const GateRows gates = GateRows(static_cast<size_t>(4 * heads), units);
  Parameter b{*this, "bias_ih", {sum_of(gates)}, options.biases};
  Projection W{*this, "weight_ih", gates, {&b}};
  Recurrent R{*this, "weight_hh", gates, units};

 private:
  int64_t units_of_head() const {
    check_input(hidden() % heads == 0, "model.heads = {} does not divide the {} units of a layer", heads,
                hidden());
    return hidden() / heads;
  }
};

}  // namespace rondo

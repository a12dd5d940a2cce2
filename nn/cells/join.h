// How W x and U h meet in the pre-activations of a cell's gates. A family of gates (nn/cells/rnn.h, lstm.h,
// gru.h) is a template over its join and its recurrent input (nn/cells/recurrent_input.h), so that each new
// join serves all families: here is the sum; nn/cells/multiplicative_integration.h, layer_norm.h and
// batch_norm.h have the others.
//
// A join has
//
//   using Settings                       what a recipe may set of it
//   Join(Cell&, const StackedGates&)     makes its parameters
//   biases_of_input()                    what the projection W x adds for all steps at once
//   (x, W, past, U, begin, end)          pre-activations of the gates in rows [begin, end) of W and U
//   normalizes_cell_state                whether an LSTM shows cell_state(x, c) in place of c: lstm.h
//   looks_across_rows                    whether a row's result depends on the other rows of its batch
#pragma once

#include <memory>
#include <vector>

#include "nn/cells/cell.h"

namespace rondo {

/// Gates that are stacked in the rows of W and U.
struct StackedGates {
  GateRows rows;
  int forget_gate = -1;  // index of an LSTM's, to whose bias forget_bias is added; -1: none

  int64_t size() const { return sum_of(rows); }
};

struct GateBiasSettings {
  int64_t biases = 2;
};
inline Keys keys_of(GateBiasSettings& it) {
  return {{"biases", &it.biases, between(0, 2), "",
           "biases of each gate: 2 as in PyTorch (input and recurrent), 1, or 0 (as in equations (2)-(5) of "
           "Luchetta's GRU); cells with multiplicative integration or batch normalisation, dt_rnn and "
           "dts_rnn have one "
           "in any case"}};
}

struct ForgetGateSettings {
  double forget_bias = 0;
};
inline Keys keys_of(ForgetGateSettings& it) {
  return {{"forget_bias", &it.forget_bias, {}, "", "added to the initial bias of an LSTM's forget gate"}};
}

/// What cells with a forget gate add to their settings.
struct ForgetGate {
  using Settings = SettingsOf<ForgetGateSettings>;
};

/// The biases of stacked gates: bias_ih and bias_hh, bias_ih alone, or none.
struct GateBiases {
  /// As GateBiasSettings asks for. Throws InputError for a forget bias where there is none to add it to.
  GateBiases(Cell& cell, const StackedGates& gates);
  /// One, which starts at this, for joins that have a single shift: of GateBiasSettings, which such a cell
  /// has as well, anything but "none" will do.
  GateBiases(Cell& cell, const StackedGates& gates, double initial);
  /// So many, from none to two.
  GateBiases(Cell& cell, const StackedGates& gates, int64_t count, const Initializer& initializer);
  std::vector<const Parameter*> all() const;

  std::unique_ptr<Parameter> input, recurrent;  // null where there is none
};

/// InputError if GateBiasSettings asks a cell that always has one bias a gate for none.
void check_has_one_bias(const Cell& cell);

/// z = W x + U past + b.
class Sum {
 public:
  using Settings = SettingsOf<GateBiasSettings>;
  static constexpr bool normalizes_cell_state = false, looks_across_rows = false;

  Sum(Cell& cell, const StackedGates& gates) : biases_(cell, gates) {}

  std::vector<const Parameter*> biases_of_input() const { return biases_.all(); }
  Variable operator()(StepInputs& x, const Projection& W, const Variable& past, const Recurrent& U,
                      int64_t begin, int64_t end) const {
    return add_linear(x.take(W, begin, end), past, U.rows(begin, end));
  }

 private:
  GateBiases biases_;
};

/// Column blocks of these widths, as views.
std::vector<Variable> split(const Variable& x, const GateRows& widths);
/// The same as views that are freed separately, so that each gradient can reuse its input's memory: for
/// operators that take one of them each.
std::vector<Variable> split_apart(const Variable& x, const GateRows& widths);

}  // namespace rondo

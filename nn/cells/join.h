// A join: how W x and U h are combined into the pre-activations of a cell's gates. A family of gates
// (nn/cells/rnn.h, lstm.h, gru.h) is a template over its join and its recurrent input (below), so that each
// new one works with all families. The sum is in this file; the others are in
// nn/cells/multiplicative_integration.h, layer_norm.h and batch_norm.h.
//
// A join has
//
//   using Settings                       its settings
//   Join(Cell&, const StackedGates&)     makes its parameters
//   biases_of_input()                    biases that the projection W x adds for all steps at once
//   (x, W, past, U, begin, end)          pre-activations of the gates in rows [begin, end) of W and U
//   normalizes_cell_state                whether an LSTM's output uses cell_state(x, c) instead of c: lstm.h
//   looks_across_rows                    whether a row's result depends on the other rows of its batch
#pragma once

#include <memory>
#include <vector>

#include "nn/cells/cell.h"

namespace rondo {

/// Gates that are stacked in the rows of W and U.
struct StackedGates {
  GateRows rows;
  int forget_gate = -1;  // index of the forget gate, to whose bias forget_bias is added; -1: none

  int64_t size() const { return sum_of(rows); }
};

struct GateBiasSettings {
  int64_t biases = 2;
};
inline Keys keys_of(GateBiasSettings& it) {
  return {{"biases", &it.biases, between(0, 2),
           "biases of each gate: 2 as in PyTorch (input and recurrent), 1, or 0 (as in equations (2)-(5) of "
           "Luchetta's GRU); cells with multiplicative integration or batch normalisation, dt_rnn and "
           "dts_rnn always have one"}};
}

struct ForgetGateSettings {
  double forget_bias = 0;
};
inline Keys keys_of(ForgetGateSettings& it) {
  return {{"forget_bias", &it.forget_bias, "added to the initial bias of an LSTM's forget gate"}};
}

/// The settings that a cell with a forget gate has in addition.
struct ForgetGate {
  using Settings = SettingsOf<ForgetGateSettings>;
};

/// The biases of stacked gates: bias_ih and bias_hh, bias_ih alone, or none.
struct GateBiases {
  /// The number that GateBiasSettings gives. Throws InputError for a forget bias without a bias to add it to.
  GateBiases(Cell& cell, const StackedGates& gates);
  /// One bias, with this initial value, for joins that have a single shift. Such a cell accepts any
  /// GateBiasSettings except 0.
  GateBiases(Cell& cell, const StackedGates& gates, double initial);
  /// `count` biases, 0 to 2.
  GateBiases(Cell& cell, const StackedGates& gates, int64_t count, const Initializer& initializer);
  std::vector<const Parameter*> all() const;
  /// The input's alone: the recurrent one is added elsewhere.
  std::vector<const Parameter*> of_input() const {
    return input ? std::vector<const Parameter*>{input.get()} : std::vector<const Parameter*>{};
  }

  std::unique_ptr<Parameter> input, recurrent;  // null: absent
};

/// For a cell that always has one bias per gate: InputError if GateBiasSettings is 0.
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
/// The same, as views that are freed separately, so that each gradient can reuse the memory of its input: for
/// blocks that go to different operators.
std::vector<Variable> split_apart(const Variable& x, const GateRows& widths);

// A recurrent input: what the gates of a cell read of the previous state, h itself or a function of it. h
// itself is in this file; the others are in nn/cells/multiplicative.h, deep_transition.h and mogrifier.h.
//
// A recurrent input has
//
//   using Settings                  its settings
//   RecurrentInput(Cell&)           makes its parameters
//   weight_name                     the name of the weight U that multiplies it
//   reads                           what W x is computed from: Projection::Reads::step if it changes x
//   width(options)                  its number of units
//   (x, previous)                   the recurrent input itself, [B, width]
struct PreviousState {
  using Settings = SettingsOf<>;
  static constexpr auto weight_name = "weight_hh";
  static constexpr auto reads = Projection::Reads::input;

  explicit PreviousState(Cell&) {}
  static int64_t width(const CellOptions& options) { return options.hidden_size; }
  const Variable& operator()(StepInputs&, const State& previous) const { return previous.h; }
};

}  // namespace rondo

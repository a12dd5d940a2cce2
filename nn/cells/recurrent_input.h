// A recurrent input: what the gates of a cell read of the previous state, h itself or a function of it. The
// gate families (nn/cells/rnn.h, lstm.h, gru.h) are templates over it, so that each new recurrent input works
// with all of them. h itself is in this file; the others are in nn/cells/multiplicative.h, deep_transition.h
// and mogrifier.h.
//
// A recurrent input has
//
//   using Settings                  its settings
//   RecurrentInput(Cell&)           makes its parameters
//   weight_name                     the name of the weight U that multiplies it
//   reads                           what W x is computed from: Projection::Reads::step if it changes x
//   width(options)                  its number of units
//   (x, previous)                   the recurrent input itself, [B, width]
#pragma once

#include "nn/cells/cell.h"

namespace rondo {

struct PreviousState {
  using Settings = SettingsOf<>;
  static constexpr auto weight_name = "weight_hh";
  static constexpr auto reads = Projection::Reads::input;

  explicit PreviousState(Cell&) {}
  static int64_t width(const CellOptions& options) { return options.hidden_size; }
  const Variable& operator()(StepInputs&, const State& previous) const { return previous.h; }
};

}  // namespace rondo

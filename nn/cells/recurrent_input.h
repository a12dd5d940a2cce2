// What the gates of a cell see of the past: h itself, or something made of it. The gate families
// (nn/cells/rnn.h, lstm.h, gru.h) are templates over it, so that each new recurrent input serves all of them:
// here is h; nn/cells/multiplicative.h, deep_transition.h and mogrifier.h have the others.
//
// A recurrent input has
//
//   using Settings                  what a recipe may set of it
//   RecurrentInput(Cell&)           makes its parameters
//   weight_name                     of the weight U that sees it
//   reads                           what W x is computed from: Projection::Reads::step if it changes x
//   width(options)                  its units
//   (x, previous)                   what U sees, [B, width]
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

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
//
// and, if stages compute it (nn/cells/stages.h)
//
//   using Stages                    those that come before the gates'
//   stages()                        their weights
#pragma once

#include "nn/cells/cell.h"
#include "nn/cells/stages.h"

namespace rondo {

struct PreviousState {
  using Settings = SettingsOf<>;
  using Stages = StageList<>;
  static constexpr auto weight_name = "weight_hh";
  static constexpr auto reads = Projection::Reads::input;

  explicit PreviousState(Cell&) {}
  static int64_t width(const CellOptions& options) { return options.hidden_size; }
  const Variable& operator()(StepInputs&, const State& previous) const { return previous.h; }
  std::vector<Recurrence::Stage> stages() const { return {}; }
};

template <class Join, class RecurrentInput>
concept has_stages = requires {
  typename Join::Operator;
  typename RecurrentInput::Stages;
};
/// The stages of a recurrent input, then those of the gates; no value if there is no kernel for them, or no
/// stage in one place.
template <class OfGates, class RecurrentInput>
std::optional<Recurrence> recurrence_of(const RecurrentInput& past,
                                        const std::vector<std::optional<Recurrence::Stage>>& of_gates) {
  using Stages = JoinedLists<typename RecurrentInput::Stages, OfGates>;
  if (position_in<Stages>(PersistentCells{}) == length_of(PersistentCells{})) return {};
  Recurrence all{typeid(Stages), past.stages()};
  for (const std::optional<Recurrence::Stage>& it : of_gates) {
    if (!it) return {};
    all.stages.push_back(*it);
  }
  return all;
}

}  // namespace rondo

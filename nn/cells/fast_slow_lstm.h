// Fast-slow LSTM: k fast cells in sequence in each step, and a slow cell between the first and the second.
// Mujika, Meier & Steger 2017, (1)-(4).
//
//   h_1 = F_1(h_k, x)               h_S' = S(h_S, h_1)
//   h_2 = F_2(h_1, h_S')            h_i = F_i(h_(i-1))    for i = 3 to k
//
// Each is an LSTM (nn/cells/lstm.h): in F(a, b), a is the recurrent h and b the input. The fast cells share
// one cell state c, which each passes to the next. h' = h_k; the state also has the slow cell's h and c. The
// paper's cells have layer normalisation and zoneout; here they are plain, and zoneout and a variational mask
// act once per step, on h_k and the fast c. Parameters: weight_ih_fast_i, weight_hh_fast_i, bias_fast_i and
// weight_ih_slow, weight_hh_slow, bias_slow, stacked i f g o.
#pragma once

#include <memory>
#include <vector>

#include "nn/cells/join.h"

namespace rondo {

struct FastSlowSettings {
  int64_t fast_cells = 2, slow_units = 0;

  int64_t slow(const CellOptions& options) const { return slow_units > 0 ? slow_units : options.hidden_size; }
};
inline Keys keys_of(FastSlowSettings& it) {
  return {{"fast_cells", &it.fast_cells, between(2, 100), "cells",
           "that a step of a fast-slow LSTM goes through"},
          {"slow_units", &it.slow_units, between(0, 1'000'000), "units",
           "of the slow cell; 0: as many as a fast one has"}};
}

struct FastSlowLstm : Cell {
  using Settings = SettingsOf<FastSlowSettings, ForgetGateSettings>;
  FastSlowLstm(Module& parent, const std::string& suffix, const CellOptions& options);
  std::vector<StateTensor> state_tensors() const override;
  State step(StepInputs& x, const State& previous) override;

  /// One of the LSTMs: W for its input, absent if it has none, and U for its recurrent input.
  struct Part {
    /// The first fast cell reads x, by a projection; the slow cell and the second fast cell read values that
    /// the step computes; the others read no input.
    enum class Reads { x, computed, nothing };
    Part(FastSlowLstm& cell, const std::string& name, int64_t units, int64_t recurrent, Reads reads,
         int64_t width = 0);
    Parameter b;
    std::unique_ptr<Projection> of_x;
    std::unique_ptr<Recurrent> of_computed;
    Recurrent U;
  };
  std::vector<std::unique_ptr<Part>> fast;
  std::unique_ptr<Part> slow;
};

}  // namespace rondo

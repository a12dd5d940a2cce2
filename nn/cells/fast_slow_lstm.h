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

#include "nn/cells/lstm.h"

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

  FastSlowLstm(Module& parent, const std::string& suffix, const CellOptions& cell_options)
      : Cell(parent, suffix, cell_options) {
    const auto& it = settings<FastSlowSettings>();
    const int64_t F = hidden(), S = it.slow(options);
    fast.push_back(std::make_unique<Part>(*this, "fast_1", F, Part::Reads::x));
    slow = std::make_unique<Part>(*this, "slow", S, Part::Reads::computed, F);
    fast.push_back(std::make_unique<Part>(*this, "fast_2", F, Part::Reads::computed, S));
    for (int64_t i = 3; i <= it.fast_cells; ++i)
      fast.push_back(std::make_unique<Part>(*this, fmt::format("fast_{}", i), F, Part::Reads::nothing));
  }

  std::vector<StateTensor> state_tensors() const override {
    const int64_t S = settings<FastSlowSettings>().slow(options);
    return {{"h", hidden()}, {"c", hidden()}, {"slow_h", S}, {"slow_c", S}};
  }

  State step(StepInputs& x, const State& previous) override {
    const auto reads = [](const Part& part, const Variable& computed, const Variable& recurrent) {
      return add_linear(linear(computed, *part.of_computed, {part.b}), recurrent, part.U);
    };
    State next = lstm_state(add_linear(x.take(*fast[0]->of_x), previous.h, fast[0]->U), previous.c);
    const State slow_next =
        lstm_state(reads(*slow, next.h, previous.other("slow_h")), previous.other("slow_c"));
    next = lstm_state(reads(*fast[1], slow_next.h, next.h), next.c);
    for (size_t i = 2; i < fast.size(); ++i)
      next = lstm_state(linear(next.h, fast[i]->U, {fast[i]->b}), next.c);
    next.others = {{"slow_h", slow_next.h}, {"slow_c", slow_next.c}};
    return next;
  }

  /// One of the LSTMs: W for its input, absent if it has none, and U for its recurrent input.
  struct Part {
    /// The first fast cell reads x, by a projection; the slow cell and the second fast cell read values that
    /// the step computes; the others read no input.
    enum class Reads { x, computed, nothing };
    Part(FastSlowLstm& cell, const std::string& name, int64_t units, Reads reads, int64_t width = 0)
        : b(cell, "bias_" + name, {4 * units},  // 0, plus the forget bias
            constant_values(0).with_offset(cell.settings<ForgetGateSettings>().forget_bias, units,
                                           2 * units)),
          of_x(reads == Reads::x ? std::make_unique<Projection>(cell, "weight_ih_" + name, GateRows(4, units),
                                                                std::vector<const Parameter*>{&b})
                                 : nullptr),
          of_computed(reads == Reads::computed
                          ? std::make_unique<Recurrent>(cell, "weight_ih_" + name, GateRows(4, units), width)
                          : nullptr),
          U(cell, "weight_hh_" + name, GateRows(4, units), units) {}

    Parameter b;
    std::unique_ptr<Projection> of_x;
    std::unique_ptr<Recurrent> of_computed;
    Recurrent U;
  };
  std::vector<std::unique_ptr<Part>> fast;
  std::unique_ptr<Part> slow;
};

}  // namespace rondo

// Gated recurrent unit. Cho et al. 2014.
//
//   r, z = s(W x + U h + b)         n = tanh(W x + U (r h) + b)
//   h' = z h + (1 - z) n
//
// z keeps the old state, as in PyTorch and cuDNN; Maupome & Meurs, Luchetta, and Wu et al. 2016 write 1 - z
// for it. Gates are stacked r z n: weight_ih is W [3H, I], weight_hh is U [3H, H]. Another join replaces the
// sum W x + U h + b. Another recurrent input m [B, M] replaces h in the gates and in the candidate, but not
// in h', which keeps h itself; r is multiplied with m and so has M units: W is [M + 2H, I], U is [M + 2H, M].
// Luchetta (2)-(5) has no biases: GateBiasSettings. The gate equations are GruReset, GruUpdate and
// GruResetAfter in nn/cells/gates.h. Next: nn/cells/multiplicative.h.
#pragma once

#include "nn/cells/gates.h"
#include "nn/cells/join.h"

namespace rondo {

template <class Join = Sum, class RecurrentInput = PreviousState>
struct Gru : Cell {
  using Settings = SettingsOfParts<Join, RecurrentInput>;
  static_assert(!Join::looks_across_rows, "batch normalisation is for the gates of an LSTM");

  Gru(Module& parent, const std::string& suffix, const CellOptions& cell_options)
      : Cell(parent, suffix, cell_options),
        join(*this, {gates}),
        W(*this, "weight_ih", gates, join.biases_of_input(), RecurrentInput::reads),
        past(*this),
        U(*this, RecurrentInput::weight_name, gates, M) {}

  State step(StepInputs& x, const State& previous) override {
    const int64_t H = hidden(), candidate = M + H;
    const Variable& seen = past(x, previous);
    const std::vector<Variable> gate = split_apart(join(x, W, seen, U, 0, candidate), {M, H});
    const Variable& r = gate[0];
    const Variable& z = gate[1];
    const Variable n = join(x, W, pointwise(GruReset{}, r, seen), U, candidate, candidate + H);
    return {pointwise_into(x.out, GruUpdate{}, z, n, previous.h_unmasked())};
  }

  const int64_t M = RecurrentInput::width(options);
  const GateRows gates{M, hidden(), hidden()};
  Join join;
  Projection W;
  RecurrentInput past;
  Recurrent U;
};

/// The GRU of PyTorch's nn.GRU and cuDNN: n = tanh(W x + b + r (U h + b')) with two biases; with one bias, b
/// alone.
struct GruWithResetAfter : Cell {
  using Settings = SettingsOf<GateBiasSettings>;

  GruWithResetAfter(Module& parent, const std::string& suffix, const CellOptions& cell_options)
      : Cell(parent, suffix, cell_options),
        biases(*this, {gates}),
        W(*this, "weight_ih", gates, biases.of_input()),
        U(*this, "weight_hh", gates, hidden()) {}

  State step(StepInputs& x, const State& previous) override {
    const std::vector<Variable> from_x = split(x.take(W), gates);
    const std::vector<Variable> from_h =
        split(biases.recurrent ? linear(previous.h, U, {*biases.recurrent}) : linear(previous.h, U), gates);
    return {pointwise_into(x.out, GruResetAfter{}, from_x[0], from_x[1], from_x[2], from_h[0], from_h[1],
                           from_h[2], previous.h_unmasked())};
  }

  const GateRows gates = GateRows(3, hidden());
  GateBiases biases;
  Projection W;
  Recurrent U;
};

}  // namespace rondo

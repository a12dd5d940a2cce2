// Gated recurrent unit. Cho et al. 2014.
//
//   r, z = s(W x + U h + b)         n = tanh(W x + U (r h) + b)
//   h' = z h + (1 - z) n
//
// z keeps the old state, as in PyTorch and cuDNN; Maupome & Meurs, Luchetta, and Wu et al. 2016 write 1 - z
// for it. Gates are stacked r z n: weight_ih is W [3H, I], weight_hh is U [3H, H]. GruWithResetAfter is what
// PyTorch's nn.GRU and cuDNN compute: n = tanh(W x + b + r (U h + b')), with two biases; with one, b.
// Luchetta (2)-(5) has none: options.bias_count = 0. The gate equations are GruReset, GruUpdate and
// GruResetAfter in autograd/operators.h.
#pragma once

#include "nn/cells/cell.h"

namespace rondo {

/// r and z from their stacked pre-activations [B, M + H], r having M units, split into views that are freed
/// separately, so that each gradient can reuse its input's memory.
struct ResetAndUpdate {
  Variable r, z;
};
ResetAndUpdate gru_reset_and_update(const Variable& r_and_z, int64_t M);

/// h' from the stacked W x + b and U h + b' [B, 3H], with the reset after the product.
Variable gru_state_with_reset_after(const Variable& from_x, const Variable& from_h, const Variable& h);

/// h' of a cell whose recurrent weights U [M + 2H, M] see `past` [B, M] in place of h, which is `kept`:
///
///   r, z = s(W x + U past + b)      n = tanh(W x + U (r past) + b)      h' = z kept + (1 - z) n
///
/// Takes the projection x_gates. r filters `past`, and so has its M units: the gates' rows are gru_gates(M,
/// H).
Variable gru_state(StepInputs& x, const Projection& x_gates, const Variable& past, const Recurrent& U,
                   const Variable& kept);
/// RowMask of the stacked gates r z n.
inline std::vector<int64_t> gru_gates(int64_t M, int64_t H) { return {M, H, H}; }

struct Gru : Cell {
  Gru(Module& parent, const std::string& suffix, const CellOptions& options);
  State step(StepInputs& x, const State& previous) override;

  GateBiases biases;
  Projection x_gates;
  Recurrent U;
};

struct GruWithResetAfter : Cell {
  GruWithResetAfter(Module& parent, const std::string& suffix, const CellOptions& options);
  State step(StepInputs& x, const State& previous) override;

  GateBiases biases;
  Projection x_gates;
  Recurrent U;
};

}  // namespace rondo

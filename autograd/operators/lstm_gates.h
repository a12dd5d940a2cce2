// The gates of the LSTM: pure pointwise mathematics, once. Arguments are pre-activations.
#pragma once

#include "autograd/pointwise.h"
#include "tensor/backend.h"
#include "tensor/simd/dual.h"
#include "tensor/simd/scalar.h"

namespace rondo {

/// The two halves of an LSTM, for cells that compute something between them.
struct LstmCellState {
  static constexpr auto name = "lstm_cell_state";
  static constexpr auto equation = "c' = s(f) c + s(i) tanh(g)";
  static constexpr auto arguments = "i f g c";
  static constexpr KnownValue known[] = {{{1, -1, 0.5, 2}, {0.875717554887}},
                                         {{-0.5, 2, -1, -0.75}, {-0.948130575476}}};
  HD auto operator()(auto i, auto f, auto g, auto c) const { return sigmoid(f) * c + sigmoid(i) * tanh(g); }
};

struct LstmOutput {
  static constexpr auto name = "lstm_output";
  static constexpr auto equation = "h' = s(o) tanh(c')";
  static constexpr auto arguments = "o c'";
  static constexpr KnownValue known[] = {{{1, 0.5}, {0.337834712147}}, {{-2, -1}, {-0.0907842487849}}};
  HD auto operator()(auto o, auto c) const { return sigmoid(o) * tanh(c); }
};

/// Hochreiter & Schmidhuber 1997, with the forget gate of Gers et al. 2000. Results: h', c'.
struct LstmGates {
  static constexpr auto name = "lstm_gates";
  static constexpr auto equation = "c' = s(f) c + s(i) tanh(g); h' = s(o) tanh(c')";
  static constexpr auto arguments = "i f g o c";
  static constexpr KnownValue known[] = {{{1, -1, 0.5, 2, -0.75}, {0.119166529515, 0.13612864612}},
                                         {{-0.5, 2, -1, 0, 1.5}, {0.387686612467, 1.03366284997}}};
  HD auto operator()(auto i, auto f, auto g, auto o, auto c) const {
    auto next = LstmCellState{}(i, f, g, c);
    return outputs(LstmOutput{}(o, next), next);
  }
};

/// The same with a sigmoid as output activation, as in Maupome & Meurs (7).
struct LstmGatesSigmoid {
  static constexpr auto name = "lstm_gates_sigmoid";
  static constexpr auto equation = "c' = s(f) c + s(i) tanh(g); h' = s(o) s(c')";
  static constexpr auto arguments = "i f g o c";
  static constexpr KnownValue known[] = {{{1, -1, 0.5, 2, -0.75}, {0.470327763464, 0.13612864612}},
                                         {{-0.5, 2, -1, 0, 1.5}, {0.368812699605, 1.03366284997}}};
  HD auto operator()(auto i, auto f, auto g, auto o, auto c) const {
    auto next = LstmCellState{}(i, f, g, c);
    return outputs(sigmoid(o) * sigmoid(next), next);
  }
};

/// What of this file is launched, tested and documented.
using LstmOperators = OperatorList<LstmCellState, LstmOutput, LstmGates, LstmGatesSigmoid>;

}  // namespace rondo

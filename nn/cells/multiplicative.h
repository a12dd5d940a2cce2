// Multiplicative cells: the recurrent input of the gates depends on the symbol. Instead of h they read an
// intermediate state m [B, M], the elementwise product of a linear map of x and a linear map of h:
//
//   m = (W_mx x) (W_mh h)                            Sutskever et al. 2011; Maupome & Meurs (5)
//
// This factorizes a tensor W [I, H, H] that would give every symbol a recurrent matrix of its own. M is free;
// the default, the size of x, is that of the small models of Maupome & Meurs. m has no bias. s is the
// sigmoid. As a recurrent input of the gate families it gives
//
//   mRNN   Rnn    h' = tanh(U x + V m + b)            Sutskever et al. 2011; Maupome & Meurs (4)
//   mLSTM  Lstm   i, f, o, g from U x + V m + b       Krause et al. 2016. Maupome & Meurs (11)-(13) print W h
//                 for U x, which neither Krause et al. nor their own parameter counts allow
//   mGRU   Gru    r, z from U x + V m + b, n from     Maupome & Meurs (25)-(27): the reset gate filters m in
//                 U x + V (r m) + b                   place of h
//
// where weight_ih is U and weight_hm is V.
#pragma once

#include "autograd/operators/arithmetic.h"
#include "autograd/operators/functions.h"
#include "nn/cells/gates.h"
#include "nn/cells/join.h"

namespace rondo {

struct IntermediateSettings {
  int64_t intermediate = -1;
  /// M for a cell with these options. Throws InputError for a width of 0.
  int64_t width(const CellOptions& options) const {
    check_input(intermediate != 0,
                "model.intermediate = 0 would cut the gates off from the state; -1 takes the width of the "
                "layer's input");
    return intermediate > 0 ? intermediate : options.input_size;
  }
};
inline Keys keys_of(IntermediateSettings& it) {
  return {{"intermediate", &it.intermediate, between(-1, 1'000'000), "units",
           "width of the intermediate state; -1: that of the layer's input"}};
}

/// One m, or several stacked: weight_mx is W_mx [count M, I], weight_mh is W_mh [count M, H].
class IntermediateState {
 public:
  using Settings = SettingsOf<IntermediateSettings>;
  static constexpr auto weight_name = "weight_hm";
  static constexpr auto reads = Projection::Reads::input;

  explicit IntermediateState(Cell& cell, int64_t count = 1)
      : M_(width(cell.options)),
        W_mx_(cell, "weight_mx", GateRows(static_cast<size_t>(count), M_)),
        W_mh_(cell, "weight_mh", GateRows(static_cast<size_t>(count), M_), cell.hidden()) {}

  static int64_t width(const CellOptions& options) {
    return options.settings.get<IntermediateSettings>().width(options);
  }
  /// All intermediate states, [B, count M].
  Variable operator()(StepInputs& x, const State& previous) const {
    return x.take(W_mx_) * linear(previous.h, W_mh_);
  }
  /// Number k alone, [B, M], with the given h; in the order of k.
  Variable operator()(StepInputs& x, const Variable& h, int64_t k) const {
    return x.take(W_mx_, k * M_, (k + 1) * M_) * linear(h, W_mh_.rows(k * M_, (k + 1) * M_));
  }

 private:
  int64_t M_;
  Projection W_mx_;
  Recurrent W_mh_;
};

/// Tensor RNN: a recurrent matrix of its own for each symbol. Sutskever et al. 2011; Maupome & Meurs (2).
///
///   h' = tanh(U x + (sum_i W_i x_i) h + b)
///
/// weight_ih is U [H, I]; weight_hx holds W_i [H, H] as its column i, [H H, I]. For small I only: each step
/// computes B matrices.
struct TensorRnn : Cell {
  using Settings = SettingsOf<GateBiasSettings>;
  using Cell::Cell;

  State step(StepInputs& x, const State& previous) override {
    return {tanh(x.take(U) + per_row_matmul(x.take(W), previous.h))};
  }

  GateBiases biases{*this, {{hidden()}}};
  Projection U{*this, "weight_ih", {hidden()}, biases.all()};
  Projection W{*this, "weight_hx", GateRows(static_cast<size_t>(hidden()), hidden())};
};

/// What true multiplicative cells share: an m for each gate and for the candidate.
struct TrueMultiplicativeCell : Cell {
  using Settings = SettingsOf<GateBiasSettings, IntermediateSettings>;

  TrueMultiplicativeCell(Module& parent, const std::string& suffix, const CellOptions& cell_options,
                         const StackedGates& gates)
      : Cell(parent, suffix, cell_options),
        biases(*this, gates),
        U(*this, "weight_ih", gates.rows, biases.all()),
        m(*this, std::ssize(gates.rows)),
        V(*this, "weight_hm", gates.rows, IntermediateState::width(options)) {}

  /// U x + V m_k + b of gate k, with the given h in m_k; in the order of the gates.
  Variable gate(StepInputs& x, const Variable& h, int64_t k) const {
    const int64_t H = hidden();
    return add_linear(x.take(U, k * H, (k + 1) * H), m(x, h, k), V.rows(k * H, (k + 1) * H));
  }

  GateBiases biases;
  Projection U;
  IntermediateState m;
  Recurrent V;
};

/// True multiplicative LSTM. Maupome & Meurs (14)-(17).
///
///   m_k = (W_kx x) (W_kh h)         k = i, f, g, o
///   i, f, o = s(U x + V m_k + b)    g = tanh(U x + V m_g + b)
///   c' = f c + i g                  h' = o tanh(c')
///
/// All four are stacked i f g o.
struct TrueMultiplicativeLstm : TrueMultiplicativeCell {
  using Settings = SettingsOfParts<TrueMultiplicativeCell, ForgetGate>;

  TrueMultiplicativeLstm(Module& parent, const std::string& suffix, const CellOptions& cell_options)
      : TrueMultiplicativeCell(parent, suffix, cell_options, {GateRows(4, cell_options.hidden_size), 1}) {}

  std::vector<StateTensor> state_tensors() const override { return {{"h", hidden()}, {"c", hidden()}}; }
  State step(StepInputs& x, const State& previous) override {
    const Variable& h = previous.h;
    const Variable i = gate(x, h, 0), f = gate(x, h, 1), g = gate(x, h, 2), o = gate(x, h, 3);
    const auto next = pointwise_outputs_into(x.out, LstmGates{}, i, f, g, o, previous.c);
    return {next[0], next[1]};
  }
};

/// True multiplicative GRU: the candidate's m sees the reset state. Maupome & Meurs (22)-(24); (23) has a
/// misplaced parenthesis.
///
///   m_r, m_z = (W_kx x) (W_kh h)    r, z = s(U x + V m_k + b)
///   m_n = (W_nx x) (W_nh (r h))     n = tanh(U x + V m_n + b)
///   h' = z h + (1 - z) n
///
/// All three are stacked r z n, and z keeps the old state (Maupome & Meurs write 1 - z for it).
struct TrueMultiplicativeGru : TrueMultiplicativeCell {
  TrueMultiplicativeGru(Module& parent, const std::string& suffix, const CellOptions& cell_options)
      : TrueMultiplicativeCell(parent, suffix, cell_options, {GateRows(3, cell_options.hidden_size)}) {}

  State step(StepInputs& x, const State& previous) override {
    const Variable& h = previous.h;
    const Variable r = gate(x, h, 0), z = gate(x, h, 1);
    const Variable n = gate(x, pointwise(GruReset{}, r, h), 2);
    return {pointwise_into(x.out, GruUpdate{}, z, n, previous.h_unmasked())};
  }
};

}  // namespace rondo

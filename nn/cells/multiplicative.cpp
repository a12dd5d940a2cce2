// Multiplicative cells.
#include "nn/cells/multiplicative.h"

#include "autograd/operators/arithmetic.h"
#include "autograd/operators/functions.h"
#include "autograd/operators/gru_gates.h"
#include "autograd/operators/lstm_gates.h"

namespace rondo {

int64_t IntermediateSettings::width(const CellOptions& options) const {
  check_input(intermediate != 0,
              "model.intermediate = 0 would cut the gates off from the state; -1 takes the width of the "
              "layer's input");
  return intermediate > 0 ? intermediate : options.input_size;
}

IntermediateState::IntermediateState(Cell& cell, int64_t count)
    : M_(width(cell.options)),
      W_mx_(cell, "weight_mx", GateRows(static_cast<size_t>(count), M_)),
      W_mh_(cell, "weight_mh", GateRows(static_cast<size_t>(count), M_), cell.hidden()) {}

Variable IntermediateState::operator()(StepInputs& x, const State& previous) const {
  return x.take(W_mx_) * linear(previous.h, W_mh_);
}

Variable IntermediateState::operator()(StepInputs& x, const Variable& h, int64_t k) const {
  return x.take(W_mx_, k * M_, (k + 1) * M_) * linear(h, W_mh_.rows(k * M_, (k + 1) * M_));
}

TensorRnn::TensorRnn(Module& parent, const std::string& suffix, const CellOptions& cell_options)
    : Cell(parent, suffix, cell_options),
      biases(*this, {{hidden()}}),
      U(*this, "weight_ih", {hidden()}, biases.all()),
      W(*this, "weight_hx", GateRows(static_cast<size_t>(hidden()), hidden())) {}

State TensorRnn::step(StepInputs& x, const State& previous) {
  return {tanh(x.take(U) + per_row_matmul(x.take(W), previous.h))};
}

TrueMultiplicativeCell::TrueMultiplicativeCell(Module& parent, const std::string& suffix,
                                               const CellOptions& cell_options, const StackedGates& gates)
    : Cell(parent, suffix, cell_options),
      biases(*this, gates),
      U(*this, "weight_ih", gates.rows, biases.all()),
      m(*this, std::ssize(gates.rows)),
      V(*this, "weight_hm", gates.rows, IntermediateState::width(options)) {}

Variable TrueMultiplicativeCell::gate(StepInputs& x, const Variable& h, int64_t k) const {
  const int64_t H = hidden();
  return add_linear(x.take(U, k * H, (k + 1) * H), m(x, h, k), V.rows(k * H, (k + 1) * H));
}

TrueMultiplicativeLstm::TrueMultiplicativeLstm(Module& parent, const std::string& suffix,
                                               const CellOptions& cell_options)
    : TrueMultiplicativeCell(parent, suffix, cell_options, {GateRows(4, cell_options.hidden_size), 1}) {}

State TrueMultiplicativeLstm::step(StepInputs& x, const State& previous) {
  const Variable& h = previous.h;
  const Variable i = gate(x, h, 0), f = gate(x, h, 1), g = gate(x, h, 2), o = gate(x, h, 3);
  const auto next = pointwise_outputs_at(x.place_of_h(), LstmGates{}, i, f, g, o, previous.c);
  return {next[0], next[1]};
}

TrueMultiplicativeGru::TrueMultiplicativeGru(Module& parent, const std::string& suffix,
                                             const CellOptions& cell_options)
    : TrueMultiplicativeCell(parent, suffix, cell_options, {GateRows(3, cell_options.hidden_size)}) {}

State TrueMultiplicativeGru::step(StepInputs& x, const State& previous) {
  const Variable& h = previous.h;
  const Variable r = gate(x, h, 0), z = gate(x, h, 1);
  const Variable n = gate(x, pointwise(GruReset{}, r, h), 2);
  return {pointwise_at(x.place_of_h(), GruUpdate{}, z, n, previous.h_unmasked())};
}

}  // namespace rondo

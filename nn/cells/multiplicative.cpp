// Multiplicative cells.
#include "nn/cells/multiplicative.h"

namespace rondo {

IntermediateState::IntermediateState(Cell& cell, const CellOptions& options, int64_t count)
    : M(options.intermediate()),
      W_mx(cell, "weight_mx", count * M, options, {}, count),
      W_mh(cell, "weight_mh", {count * M, options.hidden_size},
           options.recurrent_weights.per_gate(static_cast<int>(count))) {}

Variable IntermediateState::operator()(StepInputs& x, const Variable& h) const {
  return x.take(W_mx) * linear(h, W_mh);
}

Variable IntermediateState::operator()(StepInputs& x, const Variable& h, int64_t k) const {
  return x.take(W_mx, k * M, (k + 1) * M) * linear(h, W_mh.rows(k * M, (k + 1) * M));
}

TensorRnn::TensorRnn(Module& parent, const std::string& suffix, const CellOptions& cell_options)
    : Cell(parent, suffix, cell_options),
      biases(*this, 1, options),
      U(*this, "weight_ih", hidden(), options, biases.all()),
      W(*this, "weight_hx", hidden() * hidden(), options) {}

State TensorRnn::step(StepInputs& x, const State& previous) {
  return {tanh(x.take(U) + per_row_matmul(x.take(W), previous.h)), {}};
}

MultiplicativeRnn::MultiplicativeRnn(Module& parent, const std::string& suffix,
                                     const CellOptions& cell_options)
    : Cell(parent, suffix, cell_options),
      biases(*this, 1, options),
      U(*this, "weight_ih", hidden(), options, biases.all()),
      m(*this, options),
      V(*this, "weight_hm", {hidden(), m.M}, options.recurrent_weights) {}

State MultiplicativeRnn::step(StepInputs& x, const State& previous) {
  return {tanh(add_linear(x.take(U), m(x, previous.h), V)), {}};
}

MultiplicativeLstm::MultiplicativeLstm(Module& parent, const std::string& suffix,
                                       const CellOptions& cell_options)
    : Cell(parent, suffix, cell_options),
      biases(*this, 4, options, options.forget_bias),
      U(*this, "weight_ih", 4 * hidden(), options, biases.all()),
      m(*this, options),
      V(*this, "weight_hm", {4 * hidden(), m.M}, options.recurrent_weights.per_gate(4)) {}

State MultiplicativeLstm::step(StepInputs& x, const State& previous) {
  return lstm_state(add_linear(x.take(U), m(x, previous.h), V), previous.c);
}

TrueMultiplicativeLstm::TrueMultiplicativeLstm(Module& parent, const std::string& suffix,
                                               const CellOptions& cell_options)
    : Cell(parent, suffix, cell_options),
      biases(*this, 4, options, options.forget_bias),
      U(*this, "weight_ih", 4 * hidden(), options, biases.all()),
      m(*this, options, 4),
      V(*this, "weight_hm", {4 * hidden(), m.M}, options.recurrent_weights.per_gate(4)) {}

State TrueMultiplicativeLstm::step(StepInputs& x, const State& previous) {
  const int64_t H = hidden(), M = m.M;
  const Variable each = m(x, previous.h);
  const auto gate = [&](int64_t k) {
    return add_linear(x.take(U, k * H, (k + 1) * H), each.slice_columns(k * M, (k + 1) * M),
                      V.rows(k * H, (k + 1) * H));
  };
  const Variable i = gate(0), f = gate(1), g = gate(2), o = gate(3);
  const auto next = pointwise_outputs(LstmGates{}, i, f, g, o, previous.c);
  return {next[0], next[1]};
}

MultiplicativeGru::MultiplicativeGru(Module& parent, const std::string& suffix,
                                     const CellOptions& cell_options)
    : Cell(parent, suffix, cell_options),
      gates(gru_gates(options.intermediate(), hidden())),
      biases(*this, gates, options),
      U(*this, "weight_ih", gates, options, biases.all()),
      m(*this, options),
      V(*this, "weight_hm", {m.M + 2 * hidden(), m.M}, options.recurrent_weights.per_gate(gates)) {}

State MultiplicativeGru::step(StepInputs& x, const State& previous) {
  return {gru_state(x, U, m(x, previous.h), V, previous.kept()), {}};
}

TrueMultiplicativeGru::TrueMultiplicativeGru(Module& parent, const std::string& suffix,
                                             const CellOptions& cell_options)
    : Cell(parent, suffix, cell_options),
      biases(*this, 3, options),
      U(*this, "weight_ih", 3 * hidden(), options, biases.all()),
      m(*this, options, 3),
      V(*this, "weight_hm", {3 * hidden(), m.M}, options.recurrent_weights.per_gate(3)) {}

State TrueMultiplicativeGru::step(StepInputs& x, const State& previous) {
  const int64_t H = hidden();
  const Variable& h = previous.h;
  const auto gate = [&](int64_t k, const Variable& past) {
    return add_linear(x.take(U, k * H, (k + 1) * H), m(x, past, k), V.rows(k * H, (k + 1) * H));
  };
  const Variable r = gate(0, h), z = gate(1, h);
  const Variable n = gate(2, pointwise(GruReset{}, r, h));
  return {pointwise(GruUpdate{}, z, n, previous.kept()), {}};
}

}  // namespace rondo

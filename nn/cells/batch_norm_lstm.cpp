// Batch-normalised LSTM.
#include "nn/cells/batch_norm_lstm.h"

namespace rondo {
namespace {

/// One bias for each gate, which starts at this.
CellOptions with_biases(CellOptions options, double start) {
  options.bias_count = 1;
  options.biases = constant_values(start);
  return options;
}

}  // namespace

BatchNormLstmBase::BatchNormLstmBase(Module& parent, const std::string& suffix,
                                     const CellOptions& cell_options)
    : Cell(parent, suffix, cell_options),
      W(*this, "weight_ih", 4 * hidden(), options),
      U(*this, "weight_hh", {4 * hidden(), hidden()}, options.recurrent_weights.per_gate(4)),
      norm_ih(*this, "ih", 4 * hidden(), options.statistics_steps),
      norm_hh(*this, "hh", 4 * hidden(), options.statistics_steps),
      norm_c(*this, "c", hidden(), options.statistics_steps),
      beta_c(*this, "beta_c", {hidden()}, constant_values(0)) {}

State BatchNormLstmBase::step(StepInputs& x, const State& previous) {
  const RowMask& valid = x.valid();
  const Variable z = gates(x.take(W), linear(previous.h, U), valid, previous.steps);
  const auto gate = [&](int64_t k) { return z.slice_columns(k * hidden(), (k + 1) * hidden()); };
  const Variable c = pointwise(LstmCellState{}, gate(0), gate(1), gate(2), previous.c);
  return {pointwise(LstmOutput{}, gate(3), norm_c(c, valid, previous.steps, beta_c)), c};
}

BatchNormLstm::BatchNormLstm(Module& parent, const std::string& suffix, const CellOptions& cell_options)
    : BatchNormLstmBase(parent, suffix, with_biases(cell_options, 0)),
      b(*this, 4, options, options.forget_bias) {}

Variable BatchNormLstm::gates(const Variable& Wx, const Variable& Uh, const RowMask& valid,
                              int64_t step) const {
  return norm_hh(Uh, valid, step, norm_ih(Wx, valid, step, *b.input));
}

BatchNormMiLstm::BatchNormMiLstm(Module& parent, const std::string& suffix, const CellOptions& cell_options)
    : BatchNormLstmBase(parent, suffix, with_biases(cell_options, cell_options.integration.b)),
      z(*this, 4, options, options.forget_bias) {}

Variable BatchNormMiLstm::gates(const Variable& Wx, const Variable& Uh, const RowMask& valid,
                                int64_t step) const {
  return z(norm_ih(Wx, valid, step), norm_hh(Uh, valid, step));
}

}  // namespace rondo

// Multiplicative cells and weight drop.
#include "bench/cells.h"

#include "autograd/functions.h"
#include "bench/operators.h"
#include "tensor/pointwise_kernels.h"

namespace rondo {
namespace {

CellOptions with_one_bias(CellOptions options) {
  options.bias_count = 1;
  return options;
}

State zero_state(int64_t batch, int64_t hidden) {
  return {Variable(Tensor::zeros({batch, hidden})), Variable(Tensor::zeros({batch, hidden}))};
}

/// An LSTM's step from its stacked pre-activations.
State lstm_state(const Variable& gates, const Variable& c) {
  const int64_t H = c.shape().columns();
  const auto gate = [&](int64_t k) { return gates.column_block(k * H, (k + 1) * H); };
  const auto next = pointwise_outputs(LstmGates{}, gate(0), gate(1), gate(2), gate(3), c);
  return {next[0], next[1]};
}

}  // namespace

Mlstm::Mlstm(Module& parent, const std::string& suffix, const CellOptions& cell_options)
    : Cell(parent, suffix, cell_options),
      biases(*this, 4, options, options.forget_bias),
      W(*this, "weight_ih", 4 * hidden(), options, biases.all()),
      W_mx(*this, "weight_mx", hidden(), options),
      W_mh(*this, "weight_mh", {hidden(), hidden()}, options.recurrent_weights),
      U(*this, "weight_hh", {4 * hidden(), hidden()}, options.recurrent_weights.per_gate(4)) {}

State Mlstm::initial_state(int64_t batch) const { return zero_state(batch, hidden()); }

State Mlstm::step(const StepInputs& x, const State& previous) {
  const Variable m = x[W_mx] * linear(previous.h, W_mh);
  return lstm_state(add_linear(x[W], m, U), previous.c);
}

MiLstm::MiLstm(Module& parent, const std::string& suffix, const CellOptions& cell_options)
    : Cell(parent, suffix, with_one_bias(cell_options)),
      alpha(*this, "alpha", {4 * hidden()}, constant_values(1)),  // {1, 0.5, 0.5, 0}: the paper's for text8
      beta1(*this, "beta1", {4 * hidden()}, constant_values(0.5)),
      beta2(*this, "beta2", {4 * hidden()}, constant_values(0.5)),
      b(*this, 4, options, options.forget_bias),
      W(*this, "weight_ih", 4 * hidden(), options),
      U(*this, "weight_hh", {4 * hidden(), hidden()}, options.recurrent_weights.per_gate(4)) {}

State MiLstm::initial_state(int64_t batch) const { return zero_state(batch, hidden()); }

State MiLstm::step(const StepInputs& x, const State& previous) {
  const Variable z = pointwise(MultiplicativeIntegration{}, x[W], linear(previous.h, U), alpha.variable(),
                               beta1.variable(), beta2.variable(), b.input.variable());
  return lstm_state(z, previous.c);
}

Mgru::Mgru(Module& parent, const std::string& suffix, const CellOptions& cell_options)
    : Cell(parent, suffix, cell_options),
      biases(*this, 3, options),
      W(*this, "weight_ih", 3 * hidden(), options, biases.all()),
      W_mx(*this, "weight_mx", hidden(), options),
      W_mh(*this, "weight_mh", {hidden(), hidden()}, options.recurrent_weights),
      U(*this, "weight_hh", {3 * hidden(), hidden()}, options.recurrent_weights.per_gate(3)) {}

State Mgru::step(const StepInputs& x, const State& previous) {
  const int64_t H = hidden();
  const Variable from_x = x[W], m = x[W_mx] * linear(previous.h, W_mh);
  const Variable r_and_z = add_linear(from_x.column_block(0, 2 * H), m, U.rows(0, 2 * H));
  const Variable reset = pointwise(GruReset{}, r_and_z.column_block(0, H), m);
  const Variable n = add_linear(from_x.column_block(2 * H, 3 * H), reset, U.rows(2 * H, 3 * H));
  return {pointwise(GruUpdate{}, r_and_z.column_block(H, 2 * H), n, previous.h), {}};
}

LstmWeightDrop::LstmWeightDrop(Module& parent, const std::string& suffix, const CellOptions& cell_options)
    : Lstm(parent, suffix, cell_options) {
  constexpr double probability = 0.5;
  U.transform = [this](const Variable& trained) {
    return training() ? dropout(trained, probability, next_key(), BatchSlice{}) : trained;
  };
}

void add_bench_cells() {
  add_pointwise_operators(cpu::operator_entries(BenchOperators{}));
  add_cell<Mlstm>("mlstm");
  add_cell<MiLstm>("mi_lstm");
  add_cell<Mgru>("mgru");
  add_cell<LstmWeightDrop>("lstm_weight_drop");
}

}  // namespace rondo

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

}  // namespace

Mlstm::Mlstm(Module& parent, const std::string& suffix, const CellOptions& cell_options)
    : Cell(parent, suffix, cell_options),
      biases(*this, 4, options, options.forget_bias),
      W(*this, "weight_ih", 4 * hidden(), options, biases.all()),
      W_mx(*this, "weight_mx", hidden(), options),
      W_mh(*this, "weight_mh", {hidden(), hidden()}, options.recurrent_weights),
      U(*this, "weight_hh", {4 * hidden(), hidden()}, options.recurrent_weights.per_gate(4)) {}

State Mlstm::initial_state(int64_t batch) const { return lstm_initial_state(batch, hidden()); }

State Mlstm::step(StepInputs& x, const State& previous) {
  const Variable m = x[W_mx] * linear(previous.h, W_mh);
  return lstm_state(add_linear(x.take(W), m, U), previous.c);
}

MiLstm::MiLstm(Module& parent, const std::string& suffix, const CellOptions& cell_options)
    : Cell(parent, suffix, with_one_bias(cell_options)),
      alpha(*this, "alpha", {4 * hidden()}, constant_values(1)),  // {1, 0.5, 0.5, 0}: the paper's for text8
      beta1(*this, "beta1", {4 * hidden()}, constant_values(0.5)),
      beta2(*this, "beta2", {4 * hidden()}, constant_values(0.5)),
      b(*this, 4, options, options.forget_bias),
      W(*this, "weight_ih", 4 * hidden(), options),
      U(*this, "weight_hh", {4 * hidden(), hidden()}, options.recurrent_weights.per_gate(4)) {}

State MiLstm::initial_state(int64_t batch) const { return lstm_initial_state(batch, hidden()); }

State MiLstm::step(StepInputs& x, const State& previous) {
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

State Mgru::step(StepInputs& x, const State& previous) {
  const int64_t H = hidden();
  const Variable m = x[W_mx] * linear(previous.h, W_mh);
  const auto [r, z] = gru_reset_and_update(add_linear(x.take(W, 0, 2 * H), m, U.rows(0, 2 * H)));
  const Variable n = add_linear(x.take(W, 2 * H, 3 * H), pointwise(GruReset{}, r, m), U.rows(2 * H, 3 * H));
  return {pointwise(GruUpdate{}, z, n, previous.h), {}};
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

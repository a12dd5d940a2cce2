// The quasi-recurrent network.
#include "nn/cells/quasi_recurrent.h"

#include "autograd/operators/cells.h"
#include "nn/cells/join.h"

namespace rondo {

QuasiRecurrentNetwork::QuasiRecurrentNetwork(Module& parent, const std::string& suffix,
                                             const CellOptions& cell_options)
    : Cell(parent, suffix, cell_options),
      b(*this, "bias_ih", {sum_of(gates)}, options.biases),
      W(*this, "weight_ih", gates, {&b}, Projection::Reads::input, window()) {}

std::vector<StateTensor> QuasiRecurrentNetwork::state_tensors() const {
  std::vector<StateTensor> tensors = {{"h", hidden()}, {"c", hidden()}};
  if (window() > 1) tensors.push_back({"x", (window() - 1) * options.input_size});
  return tensors;
}

State QuasiRecurrentNetwork::step(StepInputs& x, const State& previous) {
  const std::vector<Variable> gate = split(x.take(W), gates);
  const auto next = pointwise_outputs(QrnnGates{}, gate[0], gate[1], gate[2], previous.c);
  State state{next[0], next[1]};
  if (window() > 1) {
    const int64_t kept = (window() - 2) * options.input_size;
    const Variable& earlier = previous.other("x");
    state.others = {{"x", kept > 0 ? concat({x.input(), earlier.slice_columns(0, kept)}) : x.input()}};
  }
  return state;
}

}  // namespace rondo

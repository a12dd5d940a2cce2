// Recurrent highway networks.
#include "nn/cells/recurrent_highway.h"

#include "autograd/operators/cells.h"
#include "nn/cells/join.h"

namespace rondo {

std::vector<std::unique_ptr<Parameter>> RecurrentHighwayNetwork::biases_of_layers() {
  const auto& [depth, transform_bias] = settings<RecurrentHighwaySettings>();
  const Initializer initializer = constant_values(0).with_offset(transform_bias, hidden(), 2 * hidden());
  std::vector<std::unique_ptr<Parameter>> biases;
  for (int64_t l = 1; l <= depth; ++l)
    biases.push_back(
        std::make_unique<Parameter>(*this, fmt::format("bias_{}", l), Shape{2 * hidden()}, initializer));
  return biases;
}

RecurrentHighwayNetwork::RecurrentHighwayNetwork(Module& parent, const std::string& suffix,
                                                 const CellOptions& cell_options)
    : Cell(parent, suffix, cell_options), b(biases_of_layers()), W(*this, "weight_ih", gates, {b[0].get()}) {
  for (size_t l = 1; l <= b.size(); ++l)
    R.push_back(std::make_unique<Recurrent>(*this, fmt::format("weight_hh_{}", l), gates, hidden()));
}

State RecurrentHighwayNetwork::step(StepInputs& x, const State& previous) {
  Variable s = previous.h_unmasked(), seen = previous.h;
  for (size_t l = 0; l < R.size(); ++l) {
    const Variable z = l == 0 ? add_linear(x.take(W), seen, *R[0]) : linear(seen, *R[l], {*b[l]});
    const std::vector<Variable> gate = split(z, gates);
    s = seen = pointwise(HighwayUpdate{}, gate[0], gate[1], s);
  }
  return {s};
}

}  // namespace rondo

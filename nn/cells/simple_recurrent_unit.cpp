// The simple recurrent unit.
#include "nn/cells/simple_recurrent_unit.h"

#include <cmath>

#include "autograd/operators/cells.h"
#include "nn/cells/join.h"

namespace rondo {
namespace {

double highway_bias(const Cell& cell) { return cell.settings<SimpleRecurrentUnitSettings>().highway_bias; }

/// The initialiser of recurrent weights, unless it is orthogonal, which a vector cannot be.
Initializer of_vectors(const CellOptions& options) {
  const Initializer& weights = options.recurrent_weights;
  return weights.kind == Initializer::Kind::orthogonal ? uniform_values(1 / std::sqrt(options.hidden_size))
                                                       : weights;
}

}  // namespace

SimpleRecurrentUnit::SimpleRecurrentUnit(Module& parent, const std::string& suffix,
                                         const CellOptions& cell_options)
    : Cell(parent, suffix, cell_options),
      W(*this, "weight_ih", gates),
      v_f(*this, "weight_cf", hidden(), of_vectors(options)),
      v_r(*this, "weight_cr", hidden(), of_vectors(options)),
      b_f(*this, "bias_f", {hidden()}, constant_values(0)),
      b_r(*this, "bias_r", {hidden()}, constant_values(highway_bias(*this))) {}

State SimpleRecurrentUnit::step(StepInputs& x, const State& previous) {
  const std::vector<Variable> gate = split(x.take(W), gates);
  const auto alpha = static_cast<real>(std::sqrt(1 + 2 * std::exp(highway_bias(*this))));
  const auto next = pointwise_outputs(SruGates{alpha}, gate[0], gate[1], gate[2],
                                      input_fits ? x.input() : gate[3], previous.c, v_f, v_r, b_f, b_r);
  return {next[0], next[1]};
}

}  // namespace rondo

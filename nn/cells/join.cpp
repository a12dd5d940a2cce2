// Biases of stacked gates, and the split of stacked gates into blocks.
#include "nn/cells/join.h"

namespace rondo {

GateBiases::GateBiases(Cell& cell, const StackedGates& gates, int64_t count, const Initializer& initializer) {
  check_input(0 <= count && count <= 2, "a gate has no bias, one or two (model.biases), not {}", count);
  Initializer of_input = initializer;
  if (gates.forget_gate >= 0) {
    const auto gate = gates.rows.begin() + gates.forget_gate;
    const int64_t first = sum_of({gates.rows.begin(), gate});
    of_input = initializer.with_offset(cell.settings<ForgetGateSettings>().forget_bias, first, first + *gate);
    check_input(count > 0 || of_input.offset == 0,
                "model.forget_bias = {} is added to a bias, which model.biases = 0 leaves out: leave out one "
                "of them",
                of_input.offset);
  }
  const Shape stacked{gates.size()};
  if (count >= 1) input = std::make_unique<Parameter>(cell, "bias_ih", stacked, of_input);
  if (count == 2) recurrent = std::make_unique<Parameter>(cell, "bias_hh", stacked, initializer);
}

GateBiases::GateBiases(Cell& cell, const StackedGates& gates)
    : GateBiases(cell, gates, cell.settings<GateBiasSettings>().biases, cell.options.biases) {}

GateBiases::GateBiases(Cell& cell, const StackedGates& gates, double initial)
    : GateBiases(cell, gates, 1, constant_values(initial)) {
  check_has_one_bias(cell);
}

void check_has_one_bias(const Cell& cell) {
  check_input(cell.settings<GateBiasSettings>().biases > 0,
              "model.biases = 0 is for cells whose gates are sums; this one always has a bias: leave it out");
}

std::vector<const Parameter*> GateBiases::all() const {
  std::vector<const Parameter*> result;
  for (const auto* bias : {&input, &recurrent})
    if (*bias) result.push_back(bias->get());
  return result;
}

std::vector<Variable> split(const Variable& x, const GateRows& widths) {
  std::vector<Variable> blocks;
  int64_t begin = 0;
  for (const int64_t width : widths) {
    blocks.push_back(x.slice_columns(begin, begin + width));
    begin += width;
  }
  return blocks;
}

std::vector<Variable> split_apart(const Variable& x, const GateRows& widths) {
  std::vector<Variable> blocks = split(x, widths);
  for (Variable& block : blocks) block = block.as_part();
  return blocks;
}

}  // namespace rondo

// The mogrifier.
#include "nn/cells/mogrifier.h"

#include "autograd/operators/cells.h"

namespace rondo {

Mogrifier::Map::Map(Cell& cell, const std::string& name, int64_t to, int64_t from) {
  const auto add = [&](const std::string& full_name, int64_t rows, int64_t columns) {
    factors.push_back(std::make_unique<Recurrent>(cell, full_name, GateRows{rows}, columns));
  };
  const int64_t rank = cell.settings<MogrifierSettings>().mogrifier_rank;
  if (rank == 0) {
    add(name, to, from);
  } else {
    add(name + "_right", rank, from);
    add(name + "_left", to, rank);
  }
}

Variable Mogrifier::Map::operator()(const Variable& x) const {
  Variable result = x;
  for (const auto& factor : factors) result = linear(result, *factor);
  return result;
}

Mogrifier::Mogrifier(Cell& cell) {
  const int64_t I = cell.options.input_size, H = cell.hidden();
  for (int64_t i = 1; i <= cell.settings<MogrifierSettings>().mogrifier_rounds; ++i) {
    const bool scales_input = i % 2 == 1;
    rounds_.push_back(scales_input ? std::make_unique<Map>(cell, fmt::format("weight_q_{}", i), I, H)
                                   : std::make_unique<Map>(cell, fmt::format("weight_r_{}", i), H, I));
  }
}

Variable Mogrifier::operator()(StepInputs& x, const State& previous) const {
  Variable input = x.input(), h = previous.h;
  bool scales_input = true;
  for (const auto& map : rounds_) {
    Variable& scaled = scales_input ? input : h;
    scaled = pointwise(Mogrify{}, (*map)(scales_input ? h : input), scaled);
    scales_input = !scales_input;
  }
  x.set_input(input);
  return h;
}

}  // namespace rondo

// The fast-slow LSTM.
#include "nn/cells/fast_slow_lstm.h"

#include "nn/cells/lstm.h"

namespace rondo {
namespace {

/// Initially 0, plus the forget bias.
Initializer bias_of(const Cell& cell, int64_t units) {
  return constant_values(0).with_offset(cell.settings<ForgetGateSettings>().forget_bias, units, 2 * units);
}

}  // namespace

FastSlowLstm::Part::Part(FastSlowLstm& cell, const std::string& name, int64_t units, int64_t recurrent,
                         Reads reads, int64_t width)
    : b(cell, "bias_" + name, {4 * units}, bias_of(cell, units)),
      of_x(reads == Reads::x ? std::make_unique<Projection>(cell, "weight_ih_" + name, GateRows(4, units),
                                                            std::vector<const Parameter*>{&b})
                             : nullptr),
      of_computed(reads == Reads::computed
                      ? std::make_unique<Recurrent>(cell, "weight_ih_" + name, GateRows(4, units), width)
                      : nullptr),
      U(cell, "weight_hh_" + name, GateRows(4, units), recurrent) {}

FastSlowLstm::FastSlowLstm(Module& parent, const std::string& suffix, const CellOptions& cell_options)
    : Cell(parent, suffix, cell_options) {
  const auto& it = settings<FastSlowSettings>();
  const int64_t F = hidden(), S = it.slow(options);
  fast.push_back(std::make_unique<Part>(*this, "fast_1", F, F, Part::Reads::x));
  slow = std::make_unique<Part>(*this, "slow", S, S, Part::Reads::computed, F);
  fast.push_back(std::make_unique<Part>(*this, "fast_2", F, F, Part::Reads::computed, S));
  for (int64_t i = 3; i <= it.fast_cells; ++i)
    fast.push_back(std::make_unique<Part>(*this, fmt::format("fast_{}", i), F, F, Part::Reads::nothing));
}

std::vector<StateTensor> FastSlowLstm::state_tensors() const {
  const int64_t S = settings<FastSlowSettings>().slow(options);
  return {{"h", hidden()}, {"c", hidden()}, {"slow_h", S}, {"slow_c", S}};
}

State FastSlowLstm::step(StepInputs& x, const State& previous) {
  const auto reads = [](const Part& part, const Variable& computed, const Variable& recurrent) {
    return add_linear(linear(computed, *part.of_computed, {part.b}), recurrent, part.U);
  };
  State next = lstm_state(add_linear(x.take(*fast[0]->of_x), previous.h, fast[0]->U), previous.c);
  const State slow_next =
      lstm_state(reads(*slow, next.h, previous.other("slow_h")), previous.other("slow_c"));
  next = lstm_state(reads(*fast[1], slow_next.h, next.h), next.c);
  for (size_t i = 2; i < fast.size(); ++i)
    next = lstm_state(linear(next.h, fast[i]->U, {fast[i]->b}), next.c);
  next.others = {{"slow_h", slow_next.h}, {"slow_c", slow_next.c}};
  return next;
}

}  // namespace rondo

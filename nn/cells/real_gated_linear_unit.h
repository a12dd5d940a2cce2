// Real-gated linear recurrent unit, RG-LRU. De et al. 2024, "Griffin" (arXiv 2402.19427), (1)-(4).
//
//   r = s(W_a x + b_a)              i = s(W_x x + b_x)
//   a = s(lambda)^(8 r)             h' = a h + sqrt(1 - a^2) (i x)
//
// lambda is a vector, at first such that s(lambda)^8 is uniform in [0.9, 0.999]. (The authors' code draws
// s(lambda) itself, uniform in its square, and takes 1 in place of the root at the first step.) Stacked r i:
// weight_ih is [2H, I]; if x and h differ in size, a third block projects x for h', with a bias of its own.
// The paper's matrices W_a and W_x consist of blocks on the diagonal; these are whole, as its equations are.
#pragma once

#include <cmath>

#include "nn/cells/gates.h"
#include "nn/cells/join.h"

namespace rondo {

struct RealGatedLinearUnit : Cell {
  using Cell::Cell;

  bool scans() const override { return true; }

  State step(StepInputs& x, const State& previous) override {
    const std::vector<Variable> gate = split(x.take(W), gates);
    const Variable& input = input_fits ? x.input() : gate[2];
    return {x.scan(RealGatedLinear{}, gate[0], gate[1], input, lambda, previous.h_unmasked())[0]};
  }

  const bool input_fits = options.input_size == hidden();
  const GateRows gates = GateRows(input_fits ? 2 : 3, hidden());
  Parameter b{*this, "bias_ih", {sum_of(gates)}, options.biases};
  Parameter lambda{*this, "lambda", {hidden()}, slow_decay()};
  Projection W{*this, "weight_ih", gates, {&b}};

 private:
  Initializer slow_decay() const {
    Initializer power = uniform_values(0.0495).with_offset(0.9495, 0, hidden());
    power.map = [](double it) {
      const double a = std::pow(it, 1.0 / 8);
      return std::log(a / (1 - a));
    };
    return power;
  }
};

}  // namespace rondo

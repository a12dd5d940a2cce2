// Real-gated linear recurrent unit, RG-LRU. De et al. 2024, "Griffin" (arXiv 2402.19427), (1)-(4).
//
//   r = s(W_a x + b_a)              i = s(W_x x + b_x)
//   a = s(lambda)^(8 r)             h' = a h + sqrt(1 - a^2) (i x)
//
// lambda is a vector, at first such that s(lambda)^8 is uniform in [0.9, 0.999]. Stacked r i: weight_ih is
// [2H, I]; if x and h differ in size, a third block projects x for h', with a bias of its own. The paper's
// matrices W_a and W_x consist of blocks on the diagonal; these are whole, as its equations are.
#pragma once

#include <cmath>
#include <memory>

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

// A short convolution over time, unit by unit, as blocks of linear cells have it before their cell: De et al.
// 2024, "Griffin", section 2.3; Beck et al. 2024, "xLSTM", figure 10. It reads the last four inputs.
//
//   h' = w_0 x_t + w_1 x_(t-1) + w_2 x_(t-2) + w_3 x_(t-3) + b
//
// w_j, weight and weight_1 to weight_3, and b are vectors. There is always this one bias, as in Griffin,
// however many the cell of a block has. If x and h differ in size, W [H, I] projects the sum.

struct Convolution : Cell {
  Convolution(Module& parent, const std::string& suffix, const CellOptions& cell_options)
      : Cell(parent, suffix, cell_options),
        w_0(*this, "weight", {I}, uniform_values(0.5)),
        w_1(*this, "weight_1", {I}, uniform_values(0.5)),
        w_2(*this, "weight_2", {I}, uniform_values(0.5)),
        w_3(*this, "weight_3", {I}, uniform_values(0.5)),
        b(*this, "bias", {I}, uniform_values(0.5)) {
    if (I != hidden())
      W = std::make_unique<Parameter>(*this, "weight_ih", Shape{hidden(), I}, options.input_weights);
  }

  std::vector<StateTensor> state_tensors() const override {
    return {{"h", hidden(), false}, {"x", 3 * I, false}};
  }
  int64_t window() const override { return 4; }
  bool scans() const override { return true; }

  State step(StepInputs& x, const State& previous) override {
    const Variable& earlier = previous.other("x");
    const auto before = [&](int64_t steps) { return earlier.slice_columns((steps - 1) * I, steps * I); };
    const Variable sum = pointwise_into(W ? Tensor() : x.out, WeightedWindow{}, x.input(), before(1),
                                        before(2), before(3), w_0, w_1, w_2, w_3, b);
    return {W ? linear(sum, *W) : sum, {}, {{"x", concat({x.input(), earlier.slice_columns(0, 2 * I)})}}};
  }

  const int64_t I = options.input_size;
  Parameter w_0, w_1, w_2, w_3, b;
  std::unique_ptr<Parameter> W;  // null: h is as wide as x
};

}  // namespace rondo

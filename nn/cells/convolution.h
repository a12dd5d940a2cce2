// A short convolution over time, unit by unit, as blocks of linear cells have it before their cell: De et al.
// 2024, "Griffin", section 2.3; Beck et al. 2024, "xLSTM", figure 10. It reads the last four inputs.
//
//   h' = w_0 x_t + w_1 x_(t-1) + w_2 x_(t-2) + w_3 x_(t-3) + b
//
// w_j, weight and weight_1 to weight_3, and b are vectors. There is always this one bias, as in Griffin,
// however many the cell of a block has. If x and h differ in size, W [H, I] projects the sum.
#pragma once

#include <memory>

#include "nn/cells/gates.h"
#include "nn/cells/join.h"

namespace rondo {

struct Convolution : Cell {
  using Cell::Cell;

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
  Parameter w_0{*this, "weight", {I}, uniform_values(0.5)};
  Parameter w_1{*this, "weight_1", {I}, uniform_values(0.5)};
  Parameter w_2{*this, "weight_2", {I}, uniform_values(0.5)};
  Parameter w_3{*this, "weight_3", {I}, uniform_values(0.5)};
  Parameter b{*this, "bias", {I}, uniform_values(0.5)};
  const std::unique_ptr<Parameter> W =  // null: h is as wide as x
      I == hidden()
          ? nullptr
          : std::make_unique<Parameter>(*this, "weight_ih", Shape{hidden(), I}, options.input_weights);
};

}  // namespace rondo

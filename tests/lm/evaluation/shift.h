// An observer that makes central differences of what a probe differentiates.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <utility>

#include "lm/evaluation/probe.h"
#include "nn/recurrent/recurrent_layer.h"

namespace rondo {

/// Adds a number to one unit of a tensor of the state, for all rows, at one step of one layer.
struct Shift : StepObserver {
  Shift(const Cell* of, int64_t step, std::string name, int64_t unit, double by)
      : cell(of), at(step), tensor(std::move(name)), j(unit), size(by) {}

  void begins(const Cell& which, const std::vector<int64_t>&) override {
    if (&which == cell) t = 0;
  }
  State shifted(State state) const {
    const auto shift = [&](Variable& x) {
      const Tensor value = clone(x.value());
      for (int64_t b = 0; b < value.rows(); ++b) value.mutable_data()[b * value.columns() + j] += size;
      x = Variable(value);
    };
    if (tensor == "h") shift(state.h);
    if (tensor == "c") shift(state.c);
    for (State::Named& it : state.others)
      if (it.name == tensor) shift(it.value);
    return state;
  }
  State before_step(const Cell& which, State state) override {
    return &which == cell && t == 0 && at == 0 ? shifted(state) : state;
  }
  State after_step(const Cell& which, State state) override {
    return &which == cell && ++t == at ? shifted(state) : state;
  }

  const Cell* cell;
  int64_t at;
  std::string tensor;
  int64_t j;
  double size;
  int64_t t = 0;
};

/// The gradients of each tensor of a layer's state, at each of its steps 0 to T, against central differences
/// of `loss`, which reads one sequence in evaluation mode.
inline void expect_gradients_of_differences(const ProbedLayer& seen, const Cell& cell, int64_t T,
                                            const std::function<double()>& loss) {
  ASSERT_EQ(seen.gradients.size(), cell.state_tensors().size());
  for (const auto& part : cell.state_tensors())
    for (int64_t t = 0; t <= T; ++t) {
      double squares = 0;
      for (int64_t j = 0; j < part.width; ++j) {
        constexpr double step = 1e-5;
        const auto with = [&](double by) {
          Shift shift(&cell, t, part.name, j, by);
          const Observing<StepObserver> observed(shift);
          return loss();
        };
        // Four points: h_0 = 0 is where layer normalisation bends most.
        const double slope =
            (8 * (with(step) - with(-step)) - (with(2 * step) - with(-2 * step))) / (12 * step);
        squares += slope * slope;
      }
      const NormsByStep& norms = seen.gradients.at(part.name);
      ASSERT_EQ(norms.steps.size(), T + 1) << seen.name;
      EXPECT_NEAR(norms.mean(static_cast<size_t>(t)), std::sqrt(squares), 1e-8)
          << part.name << " of layer " << seen.name << " after step " << t;
    }
}

}  // namespace rondo

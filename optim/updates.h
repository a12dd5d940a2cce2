// The updates of the optimizers: each a struct whose body is one element's formula, and the list at the end.
// An update runs over the flat buffers of all parameters at once: inputs are the values p, the gradients g
// and the optimizer's state; outputs are the new values and the new state, written over the old ones. The
// update of an optimizer also says for which options it is used, what state it has, and its numbers for a
// step. To add one, write it here and put it on the list; its name and its settings are in
// optim/optimizer_options.h. The loops: tensor/kernels/pointwise_kernels.h. The flat buffers are padded with
// zeros between parameters and between their rows: an update of zeros must give zeros. Other passes over such
// buffers are on the list as well: the average of weights, and the steps of dynamic evaluation.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "optim/optimizer_options.h"
#include "optim/step_control.h"
#include "tensor/backend.h"
#include "tensor/pointwise.h"
#include "tensor/simd/dual.h"
#include "tensor/simd/scalar.h"
#include "tensor/tensor.h"

namespace rondo {

/// A part of an optimizer's state: one number, at least `least`, for each value; 0 before the first step.
struct StateVector {
  const char* name;
  real least = std::numeric_limits<real>::lowest();
};

inline real to_real(double x) { return static_cast<real>(x); }

/// Stochastic gradient descent with an L2 penalty. Robbins & Monro 1951.
struct SgdUpdate {
  static constexpr auto name = "sgd_update";
  static constexpr auto equation = "p' = p - rate (g + decay p)";
  real learning_rate = 1, weight_decay = 0;
  static constexpr std::array<StateVector, 0> state{};
  static bool serves(const OptimizerOptions& it) { return it.kind == OptimizerKind::sgd && it.momentum == 0; }
  static SgdUpdate of(const OptimizerOptions& it, double learning_rate, int64_t) {
    return {.learning_rate = to_real(learning_rate), .weight_decay = to_real(it.weight_decay)};
  }
  HD auto operator()(auto p, auto g) const { return p - learning_rate * (g + weight_decay * p); }
};

/// The heavy ball of Polyak 1964 in PyTorch's convention: the rate multiplies the whole momentum, so that a
/// change of the rate takes effect at once. The first step from m = 0 is plain SGD.
struct MomentumUpdate {
  static constexpr auto name = "momentum_update";
  static constexpr auto equation = "m' = mu m + g + decay p; p' = p - rate m'";
  real learning_rate = 1, momentum = 0.9, weight_decay = 0;
  static constexpr std::array<StateVector, 1> state{{{"momentum"}}};
  static bool serves(const OptimizerOptions& it) { return it.kind == OptimizerKind::sgd && it.momentum > 0; }
  static MomentumUpdate of(const OptimizerOptions& it, double learning_rate, int64_t) {
    return {.learning_rate = to_real(learning_rate),
            .momentum = to_real(it.momentum),
            .weight_decay = to_real(it.weight_decay)};
  }
  HD auto operator()(auto p, auto g, auto m) const {
    auto next = momentum * m + (g + weight_decay * p);
    return outputs(p - learning_rate * next, next);
  }
};

/// Kingma & Ba 2015, algorithm 1, with an L2 penalty; epsilon is added to the corrected root, as in PyTorch.
/// The host computes in double what is the same for all elements, so that 1 - beta keeps its accuracy.
struct AdamUpdate {
  static constexpr auto name = "adam_update";
  static constexpr auto equation =
      "d = g + decay p; m' = b1 m + (1 - b1) d; v' = b2 v + (1 - b2) d d; "
      "p' = p - rate / (1 - b1^t) m' / (sqrt(v') / sqrt(1 - b2^t) + epsilon)";
  static constexpr Domain domain{0.1, 2};  // v is not negative
  real step_size = 1;                      // rate / (1 - b1^t)
  real root_of_correction = 1;             // sqrt(1 - b2^t)
  real first_rate = 0.1;                   // 1 - b1
  real second_rate = 0.001;                // 1 - b2
  real epsilon = 1e-8, weight_decay = 0;
  static constexpr std::array<StateVector, 2> state{{{"first_moment"}, {"second_moment", 0}}};
  static bool serves(const OptimizerOptions& it) { return it.kind == OptimizerKind::adam; }
  static AdamUpdate of(const OptimizerOptions& it, double learning_rate, int64_t steps) {
    const double t = static_cast<double>(steps);
    return {.step_size = to_real(learning_rate / (1 - std::pow(it.beta1, t))),
            .root_of_correction = to_real(std::sqrt(1 - std::pow(it.beta2, t))),
            .first_rate = to_real(1 - it.beta1),
            .second_rate = to_real(1 - it.beta2),
            .epsilon = to_real(it.epsilon),
            .weight_decay = to_real(it.weight_decay)};
  }
  HD auto operator()(auto p, auto g, auto m, auto v) const {
    auto d = g + weight_decay * p;
    auto next_m = m + first_rate * (d - m);
    auto next_v = v + second_rate * (d * d - v);
    return outputs(p - step_size * next_m / (sqrt(next_v) / root_of_correction + epsilon), next_m, next_v);
  }
};

/// Loshchilov & Hutter 2019, algorithm 2: the decay acts only on the values and never enters m and v.
struct AdamWUpdate {
  static constexpr auto name = "adamw_update";
  static constexpr auto equation = "adam_update of p (1 - rate decay), g, m, v, without an L2 penalty";
  static constexpr Domain domain = AdamUpdate::domain;
  real kept = 1;  // 1 - rate * decay
  AdamUpdate adam;
  static constexpr auto state = AdamUpdate::state;
  static bool serves(const OptimizerOptions& it) { return it.kind == OptimizerKind::adamw; }
  static AdamWUpdate of(const OptimizerOptions& it, double learning_rate, int64_t steps) {
    AdamWUpdate update{.kept = to_real(1 - learning_rate * it.weight_decay),
                       .adam = AdamUpdate::of(it, learning_rate, steps)};
    update.adam.weight_decay = 0;
    return update;
  }
  HD auto operator()(auto p, auto g, auto m, auto v) const { return adam(kept * p, g, m, v); }
};

/// Tieleman & Hinton 2012 (Coursera, lecture 6e), with an L2 penalty; epsilon is outside the root, as in
/// PyTorch.
struct RmspropUpdate {
  static constexpr auto name = "rmsprop_update";
  static constexpr auto equation =
      "d = g + decay p; v' = alpha v + (1 - alpha) d d; p' = p - rate d / (sqrt(v') + epsilon)";
  static constexpr Domain domain{0.1, 2};  // v is not negative
  real learning_rate = 1;
  real square_rate = 0.01;  // 1 - alpha
  real epsilon = 1e-8, weight_decay = 0;
  static constexpr std::array<StateVector, 1> state{{{"mean_square", 0}}};
  static bool serves(const OptimizerOptions& it) { return it.kind == OptimizerKind::rmsprop; }
  static RmspropUpdate of(const OptimizerOptions& it, double learning_rate, int64_t) {
    return {.learning_rate = to_real(learning_rate),
            .square_rate = to_real(1 - it.alpha),
            .epsilon = to_real(it.epsilon),
            .weight_decay = to_real(it.weight_decay)};
  }
  HD auto operator()(auto p, auto g, auto v) const {
    auto d = g + weight_decay * p;
    auto next_v = v + square_rate * (d * d - v);
    return outputs(p - learning_rate * d / (sqrt(next_v) + epsilon), next_v);
  }
};

/// Duchi, Hazan & Singer 2011, figure 1 with diagonal matrices, with an L2 penalty; epsilon is their delta.
/// The state counts from zero, so that a sum that starts above zero is added in the formula.
struct AdagradUpdate {
  static constexpr auto name = "adagrad_update";
  static constexpr auto equation =
      "d = g + decay p; s' = s + d d; p' = p - rate d / (sqrt(initial + s') + epsilon)";
  static constexpr Domain domain{0.1, 2};  // s is not negative
  real learning_rate = 1;
  real initial_squares = 0;
  real epsilon = 1e-8, weight_decay = 0;
  static constexpr std::array<StateVector, 1> state{{{"sum_of_squares", 0}}};
  static bool serves(const OptimizerOptions& it) { return it.kind == OptimizerKind::adagrad; }
  static AdagradUpdate of(const OptimizerOptions& it, double learning_rate, int64_t) {
    return {.learning_rate = to_real(learning_rate),
            .initial_squares = to_real(it.initial_squares),
            .epsilon = to_real(it.epsilon),
            .weight_decay = to_real(it.weight_decay)};
  }
  HD auto operator()(auto p, auto g, auto s) const {
    auto d = g + weight_decay * p;
    auto next_s = s + d * d;
    return outputs(p - learning_rate * d / (sqrt(initial_squares + next_s) + epsilon), next_s);
  }
};

/// Dynamic evaluation, Krause et al. 2018: RMSprop with mean squares that are known in advance, and a decay
/// towards the trained values, faster where gradients are large but never beyond them. The same pass sets the
/// gradient to zero for the next step.
struct DynamicUpdate {
  static constexpr auto name = "dynamic_update";
  static constexpr auto equation =
      "p' = p + min(decay rms / mean_rms, 1) (p0 - p) - rate g / (rms + epsilon); g' = 0";
  static constexpr Domain domain{0.1, 2};  // rms is not negative
  real learning_rate = 1;
  real decay = 0.1;  // decay / mean_rms
  real epsilon = 1e-8;
  HD auto operator()(auto p, auto g, auto p0, auto rms) const {
    return outputs(p + min(decay * rms, real(1)) * (p0 - p) - learning_rate * g / (rms + epsilon),
                   real(0) * g);
  }
};

/// A sum of squares of gradients. The same pass sets the gradient to zero for the next step.
struct SquaresUpdate {
  static constexpr auto name = "squares_update";
  static constexpr auto equation = "s' = s + g g; g' = 0";
  HD auto operator()(auto s, auto g) const { return outputs(s + g * g, real(0) * g); }
};

/// Adds a weight p to an average a of weights; r is the rounding error of a (Kahan 1965's compensation:
/// without it a small share would be rounded away). See optim/averaging.h.
struct AverageUpdate {
  static constexpr auto name = "average_update";
  static constexpr auto equation = "a' + r' = a + r + share (p - (a + r))";
  real share = 0.5;  // 1 / the number of weights, including this one
  HD auto operator()(auto p, auto a, auto r) const {
    auto change = r + share * ((p - a) - r);
    auto next = a + change;
    return outputs(next, change - (next - a));
  }
};

/// Exchanges two buffers.
struct Exchange {
  static constexpr auto name = "exchange";
  static constexpr auto equation = "a' = b; b' = a";
  HD auto operator()(auto a, auto b) const { return outputs(b, a); }
};

/// An update with a StepControl, which scales the gradient (the second input), so that clipping needs no pass
/// of its own.
template <class Update>
struct Launched {
  static constexpr auto name = Update::name;
  static constexpr auto equation = Update::equation;
  static constexpr Domain domain = [] {
    if constexpr (requires { Update::domain; })
      return Update::domain;
    else
      return Domain{};
  }();
  Deferred<Update> update{};
  StepControl control{};

  HD auto operator()(auto p, auto g, auto... state) const requires requires { Update{}(p, g, state...); }
  { return update.now()(p, control.gradient_scale.now() * g, state...); }
  /// Whether nothing may be changed any more.
  HD bool stopped() const { return control.stop.now() != 0; }
};

/// The updates of the optimizers.
using OptimizerUpdates =
    OperatorList<SgdUpdate, MomentumUpdate, AdamUpdate, AdamWUpdate, RmspropUpdate, AdagradUpdate>;

template <class... Update>
constexpr OperatorList<Launched<Update>...> launched(OperatorList<Update...>) {
  return {};
}
/// The list. Only apply_update() launches it; nothing here is recorded by autograd.
using Updates = decltype(launched(
    JoinedLists<OptimizerUpdates, OperatorList<AverageUpdate, Exchange, DynamicUpdate, SquaresUpdate>>{}));

/// The same with its launchers.
const std::vector<PointwiseOperator>& update_operators();

/// The maximum size of the numbers of a formula.
constexpr size_t max_update_bytes = 64;

namespace detail {
void apply_update(const char* name, const void* update, const std::vector<Tensor>& inputs,
                  const std::vector<Tensor>& outputs);
}

/// outputs = update(inputs), element by element, under a StepControl; an output may be an input. All are
/// vectors of the same size [N] on the same device. Throws Error otherwise, if the update takes another
/// number of them, or if it is not on a list.
template <class Update>
void apply_update(const Deferred<Update>& update, const StepControl& control,
                  const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs) {
  static_assert(sizeof(Update) <= max_update_bytes);
  const Launched<Update> launched{update, control};
  cuda::note_access(control.gradient_scale.at, sizeof(real), false);
  cuda::note_access(control.stop.at, sizeof(int32_t), false);
  detail::apply_update(Update::name, &launched, inputs, outputs);
}
/// The same at once, with the gradient, which is the second input, times `gradient_scale`.
template <class Update>
void apply_update(const Update& update, const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs,
                  double gradient_scale = 1) {
  apply_update(Deferred<Update>(update), {static_cast<real>(gradient_scale)}, inputs, outputs);
}

}  // namespace rondo

// Optimizers: an update (optim/updates.h) with its settings (optim/optimizer_options.h), its state and the
// number of steps taken. They work on the flat buffers of a model, `make_optimizer(options, model.values(),
// model.gradients())`, and do not depend on modules. Clipping: optim/step_control.h. Learning rates over
// time: optim/validation.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "optim/optimizer_options.h"
#include "optim/step_control.h"
#include "tensor/state.h"

namespace rondo {

/// A flat vector with one number for each value of the model, none below `least`.
struct NamedTensor {
  std::string name;
  Tensor tensor;
  real least = std::numeric_limits<real>::lowest();
};

struct StateVector;  // optim/updates.h

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// Updates all values in place from their gradients times `gradient_scale` (optim/step_control.h); the
  /// gradients do not change. Throws Error unless the rate is finite and not negative.
  void step(double learning_rate, double gradient_scale = 1);
  void zero_gradients();

  /// step() in two parts. begin_step() counts the step and returns the numbers of its formula, at most
  /// max_update_bytes, valid until the next call. launch() applies them, or, if `numbers` is not null, the
  /// numbers that lie at that address of the device when the launch runs: a recorded launch is replayed with
  /// other numbers.
  std::span<const std::byte> begin_step(double learning_rate);
  virtual void launch(const StepControl& control, const void* numbers = nullptr) = 0;

  std::string name() const { return name_of(options_.kind); }
  /// The initial rate: that of the options, or the optimizer's default.
  double learning_rate() const {
    return options_.learning_rate.value_or(traits_of(options_.kind).learning_rate);
  }
  int64_t steps() const { return steps_; }

  /// The state for each value, in the layout of the values.
  const std::vector<NamedTensor>& state_tensors() const { return state_; }
  /// With this state and the values loaded, training continues exactly as without interruption. `segments`
  /// are those of the values.
  void save(StateWriter& to, const std::vector<Segment>& segments) const;
  void load(const StateReader& from, const std::vector<Segment>& segments);

 protected:
  Optimizer(const OptimizerOptions& options, const Tensor& values, const Tensor& gradients,
            std::span<const StateVector> state);

  const OptimizerOptions& options() const { return options_; }
  /// The numbers of the formula at this rate; steps() already includes the step.
  virtual std::span<const std::byte> prepare(double learning_rate) = 0;
  /// {p, g, state...} and {p, state...}.
  std::vector<Tensor> inputs() const;
  std::vector<Tensor> outputs() const;

 private:
  OptimizerOptions options_;
  Tensor values_, gradients_;
  std::vector<NamedTensor> state_;
  int64_t steps_ = 0;
};

/// An optimizer over flat buffers of one size; its state starts at zero. InputErrors of check_options().
std::unique_ptr<Optimizer> make_optimizer(const OptimizerOptions& options, const Tensor& values,
                                          const Tensor& gradients);

}  // namespace rondo

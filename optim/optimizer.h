// Optimizers: an update (optim/updates.h) with its settings, its state and the number of steps taken. They
// work on the flat buffers of a model, `make_optimizer(options, model.values(), model.gradients())`, and know
// no modules. They deliberately clip nothing (optim/clipping.h) and choose no learning rate over time
// (optim/schedule.h).
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace rondo {

struct LateNumbers;  // optim/apply_update.h

/// Settings under PyTorch's names; an optimizer reads those that its formula has.
struct OptimizerOptions {
  std::string name = "sgd";               // one of optimizer_names()
  std::optional<double> learning_rate{};  // none: default_learning_rate(name)
  double momentum = 0;                    // sgd only, [0, 1)
  double beta1 = 0.9, beta2 = 0.999;      // adam, adamw: [0, 1)
  double epsilon = 1e-8;                  // adam, adamw, rmsprop: > 0
  double alpha = 0.99;                    // rmsprop, [0, 1)
  double weight_decay = 0;                // added to the gradient (an L2 penalty); adamw: decoupled
};

/// A flat vector of numbers, one for each of the model's values, and none below `least`.
struct NamedTensor {
  std::string name;
  Tensor tensor;
  real least = std::numeric_limits<real>::lowest();
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// One update of all values from their gradients times `gradient_factor` (optim/clipping.h), in place; the
  /// gradients stay. Throws Error unless the rate is finite and not negative.
  void step(double learning_rate, double gradient_factor = 1);
  void zero_gradients();

  /// The same in two steps, for one that is launched once and replayed: the numbers of a step, as they will
  /// lie at `late.update` when it runs, at most most_update_bytes; and its launch. Errors as of step().
  void write_numbers(double learning_rate, void* to);
  void launch(const LateNumbers& late);

  const std::string& name() const { return options_.name; }
  /// The rate to begin with: the one of the options, or the optimizer's default.
  double learning_rate() const { return learning_rate_; }
  int64_t steps() const { return steps_; }

  /// The state beside the values, for a checkpoint: the tensors themselves, laid out like the values. To
  /// restore one, copy() into it.
  const std::vector<NamedTensor>& state_tensors() const { return state_; }
  /// The rest of the state. With both restored, training goes on exactly as it would have.
  std::map<std::string, double> state_scalars() const;
  /// Throws InputError if the names are not those of state_scalars(), or a value cannot be one.
  void restore_scalars(const std::map<std::string, double>& scalars);

 protected:
  /// `state` has no memory yet.
  Optimizer(const OptimizerOptions& options, const Tensor& values, const Tensor& gradients,
            std::vector<NamedTensor> state);

  const OptimizerOptions& options() const { return options_; }
  /// Applies the formula at this rate; steps() counts the step already.
  virtual void update(double learning_rate) = 0;
  /// Runs p, g, state... -> p, state...
  template <class Update>
  void apply(const Update& update);

 private:
  void check_rate(double learning_rate) const;

  OptimizerOptions options_;
  double learning_rate_;
  Tensor values_, gradients_;
  std::vector<NamedTensor> state_;
  int64_t steps_ = 0;
  double gradient_factor_ = 1;  // of this step
  // Where update() goes instead of running, in write_numbers() and launch():
  void* numbers_ = nullptr;
  const LateNumbers* late_ = nullptr;
};

/// An optimizer over flat buffers of one size; its state starts at zero. Throws InputError for an unknown
/// name, naming the known ones, and for settings out of range or without a meaning for this optimizer.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerOptions& options, const Tensor& values,
                                          const Tensor& gradients);

std::vector<std::string> optimizer_names();
/// A rate that is a fair first try for a recurrent language model. Throws InputError for an unknown name.
double default_learning_rate(const std::string& name);

}  // namespace rondo

// The average of a model's weights over its training, which is evaluated and saved instead of the weights:
// averaged SGD (Polyak & Juditsky 1992), if the updates are SGD's. When to start: optim/validation.h.
// Next: lm/training/trainer.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "optim/optimizer.h"
#include "tensor/random.h"
#include "tensor/tensor.h"

namespace rondo {

/// w_T, ..., w_K -> (w_T + ... + w_K) / (K - T + 1), Merity et al. 2018, section 2, over a flat buffer such
/// as model.values(). Once started, there are two numbers per weight: the average and its rounding error, so
/// that the next step still counts after millions of steps.
class AveragedWeights {
 public:
  explicit AveragedWeights(const Tensor& values) : values_(values) {}

  bool started() const { return count_ > 0; }
  /// The number of steps whose weights are averaged.
  int64_t count() const { return count_; }

  /// Starts the average with the current weights. Throws Error if it has started.
  void start();
  /// Adds the current weights; call it after each step of the optimizer. Throws Error before start(), and
  /// while a Scope exists.
  void update();
  /// The same in two parts, like Optimizer's.
  std::span<const std::byte> begin_update();
  void launch(const StepControl& control, const void* numbers = nullptr);

  /// While it exists, the average replaces the weights; before start() it does nothing. The weights are
  /// restored exactly, however the scope is left.
  class Scope {
   public:
    explicit Scope(AveragedWeights& weights);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    AveragedWeights* weights_;  // null: nothing to undo
  };

  /// The average and its remainder; none before start(). Throws Error while a Scope exists.
  const std::vector<NamedTensor>& state_tensors() const;
  /// `segments` are those of the values. The error of state_tensors().
  void save(StateWriter& to, const std::vector<Segment>& segments) const;
  void load(const StateReader& from, const std::vector<Segment>& segments);

 private:
  void make_memory();
  void check_running() const;
  const Tensor& average() const { return state_[0].tensor; }
  const Tensor& remainder() const { return state_[1].tensor; }

  Tensor values_;
  std::vector<NamedTensor> state_;
  int64_t count_ = 0;
  bool in_model_ = false;  // a Scope exists: the model has the average
  real share_ = 1;         // of the weights that launch() adds
};

/// Gaussian weight noise (Graves 2013, "Generating Sequences With Recurrent Neural Networks", and Graves,
/// Mohamed & Hinton 2013): the gradients of an update are those of weights with noise, the update is of the
/// weights without. It keeps a model from relying on exact weights. While it exists, normal noise of the
/// given deviation and mean 0 is added to the weights `values`, a flat buffer such as model.values(). They
/// are restored exactly, however the scope is left. A deviation of 0 does nothing.
class NoisyWeights {
 public:
  /// `key` is of the update; each segment draws under its own name.
  NoisyWeights(const Tensor& values, const std::vector<Segment>& segments, double deviation, RandomKey key);
  ~NoisyWeights();
  NoisyWeights(const NoisyWeights&) = delete;
  NoisyWeights& operator=(const NoisyWeights&) = delete;

 private:
  Tensor values_, clean_;  // clean_ is undefined if there is nothing to undo
};

}  // namespace rondo

// The average of a model's weights along its training, which is evaluated and kept in place of the weights
// themselves: averaged SGD (Polyak & Juditsky 1992), where the updates are SGD's. It deliberately does not
// know when to start: optim/non_monotonic.h does. Next: lm/training/trainer.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "optim/optimizer.h"
#include "tensor/tensor.h"

namespace rondo {

/// w_T, ..., w_K -> (w_T + ... + w_K) / (K - T + 1), Merity et al. 2018, section 2, over a flat buffer such
/// as model.values(). Two numbers for each weight, once started: the average, and what its own digits cannot
/// hold, so that after millions of steps the next one still counts.
class AveragedWeights {
 public:
  explicit AveragedWeights(const Tensor& values) : values_(values) {}

  bool started() const { return count_ > 0; }
  /// How many weights are averaged.
  int64_t count() const { return count_; }

  /// The weights as they are become the first of the average. Throws Error if it has started.
  void start();
  /// Takes in the weights as they are; after each step of the optimizer. Throws Error before start(), and
  /// while the average is in force.
  void update();
  /// The same in two parts, as Optimizer's.
  std::span<const std::byte> begin_update();
  void launch(const StepControl& control, const void* numbers = nullptr);

  /// The average in place of the weights while this lives; before start() nothing happens. The weights
  /// come back to the last bit, however the scope is left.
  class Scope {
   public:
    explicit Scope(AveragedWeights& weights);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    AveragedWeights* weights_;  // null: nothing to undo
  };

  /// The average and its remainder; none before start(). Throws Error while the average is in force.
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
  bool in_force_ = false;
  real share_ = 1;  // of the weights that launch() takes in
};

}  // namespace rondo

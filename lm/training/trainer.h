// The trainer: one step, one epoch, schedule, early stopping, averaging, saving and resuming of any Task. It
// deliberately prints nothing and decides nothing about when to evaluate or save: that is its user's loop
// (lm/program/train.cpp). Next: lm/training/gpu_step.h, lm/tasks/language_modelling.h.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "lm/training/task.h"
#include "optim/averaging.h"
#include "optim/early_stopping.h"
#include "optim/non_monotonic.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"
#include "tensor/diverged.h"

namespace rondo {

/// Whether, and from when on, the average of the weights is evaluated and kept: once the validation loss no
/// longer falls (Merity et al. 2018, algorithm 1), or from the first step.
enum class Averaging { never, non_monotonic, always };
inline std::vector<std::string> names_of(Averaging) { return {"never", "non_monotonic", "always"}; }

struct TrainerOptions {
  int64_t seed = 1;  // from 0 on
  int64_t epochs = 10;
  double clip = 0;  // norm to which gradients are clipped; 0: not
  OptimizerOptions optimizer{};
  ScheduleOptions schedule{};
  Averaging averaging = Averaging::never;
  int64_t averaging_interval = 5;       // n of the non-monotonic trigger
  bool non_monotonic_stopping = false;  // the trigger ends the training
  int64_t early_stopping = 0;           // evaluations without improvement that end it; 0: none do
};
/// Those of the optimizer and the schedule among them.
Keys keys_of(TrainerOptions& options);
/// InputError for settings out of range or that contradict each other.
void check_options(const TrainerOptions& options);

/// What the steps since the last question came to.
struct StepMetrics {
  double loss = 0;  // summed over what was scored
  int64_t scored = 0;
  double gradient_norm = 0;  // of the last step, before clipping
  double learning_rate = 0;  // of the last step
};

class GpuStep;  // lm/training/gpu_step.h

class Trainer {
 public:
  /// `task` must outlive it. InputErrors of check_options().
  Trainer(Task& task, const TrainerOptions& options);
  ~Trainer();

  /// Stages the next batch of the epoch; false at its end.
  bool next_batch();
  /// One update from the staged batch: forward, backward, clip, update, average. On a GPU it returns before
  /// all that is done. A loss or a gradient that is not finite reaches no weights: Diverged, on a GPU not
  /// before metrics are read. After an exception only load() leads on.
  void step();
  /// Throws Diverged, naming the step and the first parameter that is not finite, if a step has diverged.
  StepMetrics metrics();
  /// Whether steps on a GPU are replayed (lm/training/gpu_step.h): they are, unless told otherwise.
  void set_replay(bool on) { replays_ = on; }
  void begin_next_epoch();

  /// The weights that are evaluated and kept, in the model while this lives: their average, if averaging has
  /// started, else themselves. No step may come meanwhile.
  [[nodiscard]] AveragedWeights::Scope evaluated_weights() { return AveragedWeights::Scope(average_); }
  /// Tells the schedule, early stopping and averaging, which may start now, the figure of
  /// evaluated_weights(); returns whether it is the best so far. Throws Diverged if it is not finite.
  bool validated(const Figure& figure);
  /// The same of the weights that a training begins with, where they are trained already: only the figure to
  /// beat.
  void set_figure_to_beat(const Figure& figure);
  /// Whether the weights as they are now have been validated.
  bool is_validated() const { return validated_step_ == step_; }

  /// Whether all epochs are trained, or a criterion to stop is met.
  bool done() const;
  /// The criterion that has ended it before its last epoch, in words; empty: none.
  std::string ended_by() const;

  /// Everything that a resumed training needs, the model included; `log_position` is for the user's log.
  /// After metrics(). Throws Diverged, and writes nothing, where a number is not finite.
  void save(const std::filesystem::path& path, int64_t log_position = 0) const;
  /// Returns the log position. InputError, naming the file, for a state of another run or one that no
  /// training can have.
  int64_t load(const std::filesystem::path& path);

  Task& task() { return task_; }
  const Task& task() const { return task_; }
  int64_t step_count() const { return step_; }
  int64_t epoch() const { return epoch_; }  // from 1
  int64_t epochs() const { return options_.epochs; }
  double learning_rate() const { return schedule_.rate(epoch_); }
  bool averages() const { return average_.started(); }
  /// What the updates so far took, those of an interrupted process included.
  double seconds() const { return seconds_; }
  /// Whether an evaluation has been the best, so that there is a best model.
  bool has_best() const { return early_stopping_.has_best(); }

 private:
  /// The staged batch's ids and the step's numbers, where the step's kernels find them.
  void stage(double rate);
  /// Forward and backward, part by part. Returns what the losses report.
  std::vector<Tensor> compute_gradients();
  /// The gradients' norm, how they are clipped, and whether there is an update at all.
  StepControl decide(const std::vector<Tensor>& reported);
  /// Reads what the steps on the GPU have come to.
  void collect();
  void check_finite(double loss, double norm, int64_t step) const;

  Task& task_;
  Module& model_;
  TrainerOptions options_;
  std::unique_ptr<Optimizer> optimizer_;
  Schedule schedule_;
  EarlyStopping early_stopping_;
  NonMonotonicTrigger trigger_;
  AveragedWeights average_;
  std::unique_ptr<GpuStep> gpu_;  // null on a CPU
  bool replays_ = true;
  Batch batch_;
  bool is_staged_ = false;
  std::vector<Tokens> indices_;         // the batch's, on the device
  StepMetrics pending_;                 // of steps that metrics() has not told
  std::vector<int64_t> pending_steps_;  // on a GPU: their numbers
  int64_t step_ = 0, epoch_ = 1, validated_step_ = -1;
  double seconds_ = 0;
};

/// Whether the training that saved this state had come to its end. InputErrors of Trainer::load().
bool is_finished(const TrainerOptions& options, const std::filesystem::path& state);
/// Whether it had a best model, as Trainer::has_best() says.
bool has_best(const std::filesystem::path& state);

}  // namespace rondo

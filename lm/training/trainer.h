// The trainer: one step, one epoch, schedule, early stopping, averaging, saving and resuming of any
// Objective. It deliberately prints nothing and does not decide when to evaluate or save: the caller's loop
// does (lm/commands/training.cpp). Next: lm/training/gpu_step.h, lm/tasks/language_modelling.h.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "lm/training/objective.h"
#include "lm/training/ranks.h"
#include "optim/averaging.h"
#include "optim/optimizer.h"
#include "optim/validation.h"
#include "tensor/profile.h"

namespace rondo {

/// When to start averaging the weights, so that the average is evaluated and saved: never, once the
/// validation loss no longer falls (Merity et al. 2018, algorithm 1), or after the first step.
enum class Averaging { never, non_monotonic, always };
inline std::vector<std::string> names_of(Averaging) { return {"never", "non_monotonic", "always"}; }

struct TrainerOptions {
  int64_t seed = 1;  // 0 or more
  int64_t epochs = 10;
  int64_t steps = 0;        // updates that end the training, whatever `epochs` says; 0: epochs do
  double clip = 0;          // maximum norm of the gradients; 0: no clipping
  double weight_noise = 0;  // deviation of the noise on all weights while gradients are computed; 0: none
  OptimizerOptions optimizer{};
  ScheduleOptions schedule{};
  Averaging averaging = Averaging::never;
  int64_t averaging_interval = 5;       // n of the non-monotonic trigger
  bool non_monotonic_stopping = false;  // the trigger ends the training
  int64_t early_stopping = 0;           // evaluations without improvement that end the training; 0: off
};
/// Includes the keys of the optimizer and the schedule.
Keys keys_of(TrainerOptions& options);
/// Throws InputError for settings out of range or that contradict each other.
void check_options(const TrainerOptions& options);

/// The results of the steps since the previous call of metrics().
struct StepMetrics {
  double loss = 0;  // summed over what was scored
  int64_t scored = 0;
  double gradient_norm = 0;  // of the last step, before clipping
  double learning_rate = 0;  // of the last step
  double seconds = 0;        // of the steps alone

  /// Adds the results of the steps after these.
  void add(const StepMetrics& next) {
    *this = {loss + next.loss, scored + next.scored, next.gradient_norm, next.learning_rate,
             seconds + next.seconds};
  }
  double mean_loss() const { return loss / static_cast<double>(scored); }
  double scored_per_second() const { return static_cast<double>(scored) / seconds; }
};

class GpuStep;  // lm/training/gpu_step.h

class Trainer {
 public:
  /// `objective` must outlive it. InputErrors of check_options().
  Trainer(Objective& objective, const TrainerOptions& options);
  ~Trainer();

  /// Trains with other processes from now on; `ranks` must outlive it. To be called before the first batch,
  /// by all ranks, whose models and objectives must be the same. Then rank 0 calls what it likes, and the
  /// others follow(). InputErrors of Objective::divide(), and if the model has batch normalisation.
  void join(Ranks& ranks);
  /// Repeats the calls of rank 0's trainer until that is destroyed. Evaluations, files and messages are
  /// rank 0's alone.
  void follow();

  /// Stages the next batch of the epoch; false at its end.
  bool next_batch();
  /// Stages another batch than the next: Objective::stage_extreme().
  bool stage_extreme(size_t number);
  /// Makes one update from the staged batch: forward, backward, clip, update, average. On a GPU it returns
  /// before that is done. If the loss or a gradient is not finite, the weights do not change and Diverged is
  /// thrown, on a GPU by the next metrics(). After an exception, continue only with load().
  void step();
  /// Throws Diverged if a step has diverged, naming the step and the first parameter that is not finite.
  StepMetrics metrics();
  /// Whether steps on a GPU are replayed (lm/training/gpu_step.h); the default is true.
  void set_replay(bool on) { replays_ = on; }
  void begin_next_epoch();

  /// While the returned scope exists, the model has the weights to be evaluated and saved: the average if
  /// averaging has started, otherwise the current weights. No step may be made meanwhile.
  [[nodiscard]] AveragedWeights::Scope evaluated_weights() { return AveragedWeights::Scope(average_); }
  /// Passes the scores of evaluated_weights() to the schedule, early stopping and averaging, which may start
  /// now; returns whether it is the best so far. Throws Diverged if it is not finite.
  bool validated(const Scores& scores);
  /// Sets the best scores so far to those of the trained weights that a finetuning begins with.
  void set_baseline(const Scores& scores);
  /// Whether the current weights have been validated.
  bool is_validated() const { return validated_step_ == step_; }

  /// Whether all epochs, or steps, are trained, or a stopping criterion is met.
  bool done() const;
  /// The stopping criterion that ended the training early, in words; empty: none.
  std::string ended_by() const;

  /// Saves everything that a resumed training needs, including the model; `log_position` is the size of the
  /// caller's log. Call metrics() first. Throws Diverged, and writes nothing, if a number is not finite.
  void save(const std::filesystem::path& path, int64_t log_position = 0) const;
  /// Returns the log position. InputError, naming the file, for the state of another run or an invalid state.
  int64_t load(const std::filesystem::path& path);

  Objective& objective() { return objective_; }
  const Objective& objective() const { return objective_; }
  int64_t step_count() const { return step_; }
  int64_t epoch() const { return epoch_; }  // from 1
  int64_t epochs() const { return options_.epochs; }
  int64_t steps() const { return options_.steps; }  // 0: epochs end the training
  double learning_rate() const { return schedule_.rate(epoch_); }
  bool averages() const { return average_.started(); }
  /// The time of all updates so far, including those before an interruption.
  double seconds() const { return seconds_; }
  /// Whether there is a best model: false before the first evaluation.
  bool has_best() const { return best_.is_known(); }

 private:
  /// Puts the staged batch's ids and the step's numbers where the step's kernels find them.
  void stage(double rate);
  /// Forward and backward, part by part. Returns the reported losses.
  std::vector<Tensor> compute_gradients();
  /// Computes the gradients' norm and the clipping factor, and decides whether the update is applied.
  StepControl decide(const std::vector<Tensor>& reported);
  /// Whether a GPU may record the step and replay it; AllReduce is not for graphs.
  bool may_be_replayed() const { return !batch_.kind.empty() && !ranks_; }
  /// Reads the results of the steps on the GPU.
  void collect();
  /// Adds the time since then to that of the updates.
  void count_time(Clock::time_point start);
  void check_finite(double loss, double norm, int64_t step) const;

  /// What rank 0 tells the others to do.
  struct Order;
  void tell(const Order& order) const;

  Objective& objective_;
  Module& model_;
  TrainerOptions options_;
  std::unique_ptr<Optimizer> optimizer_;
  Schedule schedule_;
  BestLoss best_;
  NonMonotonicTrigger trigger_;
  AveragedWeights average_;
  std::unique_ptr<GpuStep> gpu_;  // null on a CPU
  bool replays_ = true;
  Batch batch_;
  bool is_staged_ = false;
  std::vector<Tokens> indices_;         // the batch's, on the device
  StepMetrics pending_;                 // of steps that metrics() has not returned yet
  std::vector<int64_t> pending_steps_;  // on a GPU: the numbers of these steps
  int64_t step_ = 0, epoch_ = 1, validated_step_ = -1;
  double seconds_ = 0;
  Ranks* ranks_ = nullptr;  // null: alone
  std::unique_ptr<GradientSum>
      gradient_sum_;  // null: alone, or on CPUs, where a sum takes the cores from backward
};

/// Whether the training that saved this state was finished. InputErrors of Trainer::load().
bool is_finished(const TrainerOptions& options, const std::filesystem::path& state);

}  // namespace rondo

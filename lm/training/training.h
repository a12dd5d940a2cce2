// One training as an object: model, optimizer, schedule, averaging and position in the text; one update;
// saving and resuming. It deliberately prints nothing and decides nothing: the loop is lm/program/train.cpp.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lm/program/recipe.h"
#include "lm/tasks/batches.h"
#include "lm/training/checkpoint.h"
#include "lm/training/gpu_step.h"
#include "nn/models/language_model.h"
#include "optim/averaging.h"
#include "optim/early_stopping.h"
#include "optim/non_monotonic.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"
#include "tensor/diverged.h"

namespace rondo {

class Training {
 public:
  /// `train_ids` must outlive the training. `line_end`, the id that ends a line, is for data.batching =
  /// lines.
  Training(const Recipe& recipe, int64_t vocabulary_size, std::span<const int32_t> train_ids,
           std::optional<int32_t> line_end = {}, Device device = Device::cpu);

  /// The next chunk of the epoch; false at its end.
  bool next_chunk(Chunk& chunk) { return batches_.next(chunk); }

  struct Update {
    double nats = 0;  // summed over the symbols
    int64_t symbols = 0;
    double gradient_norm = 0;  // before clipping
    double learning_rate = 0;  // that of the epoch, in proportion to the length of this chunk
  };
  /// Forward, backward, clip, update, average; micro-batch by micro-batch. On a GPU it returns before all
  /// that is done. A loss or a gradient that is not finite reaches no weights; progress() tells.
  void advance(const Chunk& chunk);
  /// What the steps since the last call came to: sums, and of the last one its norm and rate. Throws
  /// Diverged, naming the step and the first parameter that is not finite, if one of them has diverged.
  Update progress();
  /// Both: one step and what it came to.
  Update update(const Chunk& chunk) {
    advance(chunk);
    return progress();
  }
  /// Whether steps on a GPU are replayed (lm/training/gpu_step.h): they are, unless told otherwise.
  void set_replay(bool on) { replays_ = on; }

  /// The population statistics of batch normalisation anew, for the weights as they are: the average
  /// over the rows of the first epoch, read once more (nn/layers/batch_norm.h). Returns its symbols;
  /// `progress` is told those done. Leaves the model as it is evaluated.
  int64_t estimate_statistics(const std::function<void(int64_t)>& progress);

  /// The weights that are evaluated and kept, in the model while this lives: their average, if averaging has
  /// started, else themselves. No update may come meanwhile.
  [[nodiscard]] AveragedWeights::InForce evaluated_weights() { return AveragedWeights::InForce(average_); }
  /// Tells the schedule, early stopping and averaging, which may start now, the validation loss of
  /// evaluated_weights(); returns whether it is the best so far. Throws Diverged if it is not finite.
  bool validated(double nats_per_symbol);
  /// The same of the weights that a training begins with, where they are trained already: only the loss to
  /// beat.
  void begins_with(double nats_per_symbol);
  /// Whether the weights as they are now have been validated.
  bool is_validated() const { return validated_step_ == step_; }
  /// Rewinds the text and the state, and raises the epoch.
  void begin_next_epoch();
  /// Whether all epochs are trained, or a criterion to stop is met.
  bool done() const;
  /// The criterion that has ended it before its last epoch, in words; empty: none.
  std::string ended_by() const;

  /// After progress(). Throws Diverged, and writes nothing, where a number is not finite.
  void save(const std::filesystem::path& path, int64_t log_position) const;
  /// Returns the log's position at the time of saving. InputError, naming the file, for a state of another
  /// run or one that no training can have.
  int64_t load(const std::filesystem::path& path);

  LanguageModel& model() { return model_; }
  int64_t step() const { return step_; }
  /// What the updates up to this step took, those of an interrupted process that are in its state included.
  double seconds() const { return seconds_; }
  int64_t epoch() const { return epoch_; }  // from 1
  double learning_rate() const { return schedule_.rate(epoch_); }
  bool averages() const { return average_.started(); }
  /// The lowest validation loss so far, in nats per symbol.
  double best() const { return early_stopping_.state().loss; }
  /// Whether there is one, and so a best model.
  bool has_best() const { return best() < BestLoss().loss; }
  /// How much of the text this epoch has read, 0 to 1.
  double share_of_epoch() const {
    return static_cast<double>(batches_.position()) / static_cast<double>(batches_.length());
  }
  int64_t symbols_per_epoch() const { return batches_.symbols(); }

 private:
  /// Runs a chunk micro-batch by micro-batch, from `states`, which go on to where it ends if batches carry
  /// them. use(output, targets) gets each piece of a micro-batch, end() is called after its last. ids(i,
  /// values) makes the ids of piece i / 2: what it reads, then its targets.
  template <class Ids, class Use, class End>
  void forward(const Chunk& chunk, const std::vector<State>& states, Ids ids, Use use, End end);
  /// A micro-batch in pieces of time without its padding, where that can be left out.
  std::vector<Chunk> pieces_of(Chunk chunk) const;
  /// Notes how many steps of time the states have behind them, once a chunk is read.
  void go_on(std::vector<State>& states, const Chunk& chunk) const;
  /// Whether the state ends with this step: train.reset_every.
  bool state_ends_after(int64_t step) const;
  void reset_states();
  /// Forward and backward; takes(nats), the losses of the symbols of a micro-batch.
  template <class Ids, class Take>
  void losses_and_gradients(const Chunk& chunk, Ids ids, Take take);
  void advance_on_cpu(const Chunk& chunk, double rate);
  void advance_on_gpu(const Chunk& chunk, double rate);
  /// Reads what the steps on the GPU have come to.
  void collect();
  int64_t micro_batch() const;
  double rate_of(const Chunk& chunk) const;
  /// With the penalties on activations: what gradients are taken of. `streams` is the whole batch.
  Variable penalized(Variable loss, const LanguageModel::Output& output, int64_t streams) const;
  void check_finite(double loss, double norm, int64_t step) const;

  Recipe recipe_;
  Batches batches_;
  LanguageModel model_;
  std::unique_ptr<Optimizer> optimizer_;
  Schedule schedule_;
  EarlyStopping early_stopping_;
  NonMonotonicTrigger trigger_;
  AveragedWeights average_;
  std::vector<State>
      states_;  // [batch, H] of each layer, always in one place; zero where batches do not carry it
  std::unique_ptr<GpuStep> gpu_;  // null on a CPU
  bool replays_ = true;
  Update pending_;                      // of steps that progress() has not told
  std::vector<int64_t> pending_steps_;  // on a GPU: their numbers
  int64_t step_ = 0, epoch_ = 1, validated_step_ = -1;
  double seconds_ = 0;
};

/// Whether the training that saved this state, with this recipe, had come to its end. InputErrors of load().
bool is_finished(const Recipe& recipe, const std::filesystem::path& state);

/// InputError, by its header alone, if a state file does not hold weights of this model, which needs no
/// memory.
void check_state_layout(const std::filesystem::path& path, const Module& model);

/// Everything in `state` that is defined, for files: "state.0.h", "state.0.c", ...
std::vector<std::pair<std::string, Tensor>> named_tensors(const std::vector<State>& states);

}  // namespace rondo

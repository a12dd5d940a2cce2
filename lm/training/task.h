// What is trained, as the trainer sees it: a model, the next batch, the loss of that batch, and the figure on
// held-out data that says which weights are best. Nothing else is known of it; the tasks are in lm/tasks.
// Next: lm/training/trainer.h.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "autograd/variable.h"
#include "nn/module.h"
#include "tensor/state.h"

namespace rondo {

/// A batch that is ready for its losses.
struct Batch {
  std::vector<std::vector<int32_t>> indices{};  // token ids and the like, which losses read on the device
  int64_t parts = 1;                            // micro-batches; their gradients add up
  int64_t scored = 0;                           // what its loss is summed over: symbols, labels, ...
  double rate_factor = 1;                       // times the learning rate, for this batch
  /// Batches of one kind launch the same kernels on tensors of the same shapes, so that a GPU records them
  /// once and then replays them without calling loss() and carry_state(): whatever these take from the host
  /// but `indices` must be the same for all of the kind (no Lengths of a batch, for one). None: this batch is
  /// launched as it is.
  std::optional<int64_t> kind{};
};

/// Of one part of a batch.
struct Loss {
  Variable minimised{};            // [1]: what gradients are taken of; undefined: nothing to learn from
  std::vector<Tensor> reported{};  // all their elements add up to the part's share of the loss that is told
};

/// What held-out data says of a model.
struct Figure {
  std::string name = "nats";  // per symbol, or "BLEU", "accuracy", ...
  double value = 0;
  bool higher_is_better = false;
  int64_t count = 0;   // how much was scored: symbols, sentences, ...
  std::string read{};  // how the data was read
  double seconds = 0;

  /// What is to fall.
  double loss() const { return higher_is_better ? -value : value; }
};

class Task {
 public:
  virtual ~Task() = default;

  /// All that is trained, finalized: one tree, whatever tasks share it.
  virtual Module& model() = 0;

  /// Goes to the beginning of an epoch, from 1 on.
  virtual void begin_epoch(int64_t epoch) = 0;
  /// Stages the next batch of the epoch; false at its end.
  virtual bool next_batch(Batch& batch) = 0;
  /// The loss of a part of the staged batch. `indices` are the batch's, where the model is; random numbers
  /// are those of `random`, in which the task fills in the slice.
  virtual Loss loss(int64_t part, const std::vector<Tokens>& indices, RandomContext random) = 0;
  /// After the gradients of that part: what its history has needed may be overwritten.
  virtual void carry_state(int64_t /*part*/) {}
  /// After the batch's update, the step's number: on a GPU it may still be running.
  virtual void end_batch(int64_t /*step*/) {}
  /// How much of the epoch has been staged, 0 to 1.
  virtual double share_of_epoch() const = 0;
  /// What an epoch scores.
  virtual int64_t scored_per_epoch() const = 0;

  /// Of the weights as they are. `progress`, where it is not empty, is told how much has been
  /// scored, and may throw to end it.
  virtual Figure evaluate(const std::function<void(int64_t)>& progress) = 0;

  /// The position in the data and what is carried from batch to batch: not the model. load() follows
  /// begin_epoch().
  virtual void save(StateWriter& to) const = 0;
  virtual void load(const StateReader& from) = 0;
};

}  // namespace rondo

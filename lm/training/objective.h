// What the trainer minimises: the model, the next batch, its loss, and the scores on held-out data that
// decide which weights are best. Rondo's objectives are in lm/tasks. Next: lm/training/ranks.h,
// lm/training/trainer.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "autograd/variable.h"
#include "lm/evaluation/scores.h"
#include "lm/training/ranks.h"
#include "nn/module.h"
#include "tensor/state.h"

namespace rondo {

/// A batch whose losses can be computed.
struct Batch {
  std::vector<std::vector<int32_t>> indices{};  // token ids and the like, which loss() reads on the device
  int64_t parts = 1;       // micro-batches; their gradients add up. 0: this rank has no share of the batch
  int64_t scored = 0;      // the number of terms in its loss: symbols, labels, ...; of all ranks
  double rate_factor = 1;  // factor of the learning rate for this batch
  /// Batches of the same kind launch the same kernels on tensors of the same shapes, so that a GPU records
  /// the launches once and then replays them without calling loss() and carry_state(). Everything that these
  /// take from the host, except `indices`, must be the same for all batches of the kind (so not, for example,
  /// Lengths, unless they are staged). Empty: this batch runs eagerly.
  std::vector<int64_t> kind{};
};
/// The steps to which padding lengthens sequences of so many steps, so that there are few kinds of batches.
inline int64_t steps_of_kind(int64_t steps) { return (steps + 3) / 4 * 4; }

/// The loss of one part of a batch.
struct Loss {
  Variable minimised{};            // [1]: the value to differentiate; undefined: nothing to learn
  std::vector<Tensor> reported{};  // their elements sum to the part's share of the reported loss
};

class Objective {
 public:
  virtual ~Objective() = default;

  /// Everything that is trained, finalized: one tree of modules, even if tasks share parts of it.
  virtual Module& model() = 0;

  /// Goes to the beginning of an epoch, counted from 1.
  virtual void begin_epoch(int64_t epoch) = 0;
  /// Stages the next batch of the epoch; false at its end.
  virtual bool next_batch(Batch& batch) = 0;
  /// To measure memory (lm/training/memory.h), and to test the model (Task::check_gradients()): stages a
  /// batch of the first epoch that may take the most; number 0 is the largest. False: there are not so many.
  virtual bool stage_extreme(Batch& batch, size_t number) { return number == 0 && next_batch(batch); }
  /// What a user can change if there is too little memory for the staged batch.
  virtual std::string remedy_for_memory() const { return "make train.batch or model.hidden smaller"; }
  /// The loss of a part of the staged batch. `indices` are the batch's, on the model's device. Random numbers
  /// depend on `random`, whose slice it sets.
  virtual Loss loss(int64_t part, const std::vector<Tokens>& indices, RandomContext random) = 0;
  /// Called after the gradients of that part are computed: values that its history needed may now be
  /// overwritten.
  virtual void carry_state(int64_t /*part*/) {}
  /// Called after the batch's update, with the number of the step; on a GPU the update may still be running.
  virtual void end_batch(int64_t /*step*/) {}
  /// The fraction of the epoch that has been staged, 0 to 1.
  virtual double epoch_fraction() const = 0;
  /// The number of scored items in an epoch.
  virtual int64_t scored_per_epoch() const = 0;
  /// What these items are.
  virtual std::string scored_items() const { return "symbols"; }

  /// Evaluates the current weights. `progress`, if not empty, gets the number of items scored so far, and may
  /// throw to end the evaluation.
  virtual Scores evaluate(const ReportDone& progress) = 0;

  /// Stages only the share of rank `own` of `ranks` from now on, so that the gradients of all ranks add up to
  /// the whole batch's, and so do the reported losses. Called once, before the first batch. InputError if
  /// batches cannot be divided among so many.
  virtual void divide(int64_t /*ranks*/, int64_t /*own*/) {
    throw InputError("batches of this task cannot be divided among ranks");
  }
  /// Collects from all ranks the state that is carried from batch to batch.
  virtual void collect_state(Ranks& /*ranks*/) {}

  /// The position in the data and the state carried from batch to batch, without the model, under names that
  /// begin with `prefix`. load() is called after begin_epoch().
  virtual void save(StateWriter& to, const std::string& prefix = "") const = 0;
  virtual void load(const StateReader& from, const std::string& prefix = "") = 0;
};

}  // namespace rondo

// What objectives that read whole sentences in batches share: the place in the data, and the division of a
// batch among ranks. No state is carried from batch to batch. Next: lm/tasks/translation.h,
// lm/tasks/classification.h.
#pragma once

#include <utility>

#include "lm/training/objective.h"

namespace rondo {

/// `Batches` is PairBatches, LabelledBatches or the like, and `Staged` what its next() gives.
template <class Batches, class Staged>
class SentenceObjective : public Objective {
 public:
  explicit SentenceObjective(Batches batches) : batches_(std::move(batches)) {}

  void begin_epoch(int64_t epoch) override {
    epoch_ = epoch;
    batches_.seek(epoch, 0);
  }
  bool next_batch(Batch& batch) final {
    if (!batches_.next(staged_)) return false;
    stage(batch);
    if (staged_.share.count == 0) batch.indices.clear(), batch.parts = 0;
    return true;
  }
  /// The largest batch, and the smallest: products of few rows keep packed weights (tensor/gemm.h).
  bool stage_extreme(Batch& batch, size_t number) final {
    if (number > 1) return false;
    batches_.seek(1, 0);
    batches_.seek_extreme(number == 0 ? Extreme::largest : Extreme::smallest);
    return next_batch(batch);
  }
  /// The batch of the last next_batch().
  const Staged& staged() const { return staged_; }
  void divide(int64_t ranks, int64_t own) override { batches_.divide(ranks, own); }
  double epoch_fraction() const override {
    return static_cast<double>(batches_.position()) / static_cast<double>(batches_.length());
  }
  void save(StateWriter& to) const override { to.add("position", batches_.position()); }
  void load(const StateReader& from) override {
    int64_t position = 0;
    from.read("position", position, 0, batches_.length());
    batches_.seek(epoch_, position);
  }

 protected:
  /// Sets what the trainer needs to know of staged_.
  virtual void stage(Batch& batch) const = 0;
  /// Begins the computation of staged_, whose rows have the random numbers of the whole batch's.
  void begin_update(RandomContext random) {
    random.slice = {staged_.share.count, staged_.share.first, staged_.share.whole};
    model().begin_update(random);
  }

  Batches batches_;
  Staged staged_;

 private:
  int64_t epoch_ = 1;
};

}  // namespace rondo

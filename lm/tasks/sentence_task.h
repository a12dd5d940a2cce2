// What tasks that read whole sentences in batches share: the place in the data. No state is carried from
// batch to batch. Next: lm/tasks/translation.h, lm/tasks/classification.h.
#pragma once

#include <utility>

#include "lm/training/task.h"

namespace rondo {

/// `Batches` is PairBatches or LabelledBatches.
template <class Batches>
class SentenceTask : public Task {
 public:
  explicit SentenceTask(Batches batches) : batches_(std::move(batches)) {}

  void begin_epoch(int64_t epoch) override {
    epoch_ = epoch;
    batches_.seek(epoch, 0);
  }
  double share_of_epoch() const override {
    return static_cast<double>(batches_.position()) / static_cast<double>(batches_.length());
  }
  void save(StateWriter& to) const override { to.add("position", batches_.position()); }
  void load(const StateReader& from) override {
    int64_t position = 0;
    from.read("position", position, 0, batches_.length());
    batches_.seek(epoch_, position);
  }

 protected:
  Batches batches_;

 private:
  int64_t epoch_ = 1;
};

}  // namespace rondo

// Early stopping: the end of a training whose validation loss has stopped falling. Prechelt 1998, criterion
// UP without its strips: N evaluations in a row without a new lowest loss. The caller saves the best
// weights.
#pragma once

#include "optim/best_loss.h"
#include "tensor/error.h"

namespace rondo {

class EarlyStopping {
 public:
  /// Stops after `patience` evaluations without improvement; 0: never. Throws InputError if it is negative.
  explicit EarlyStopping(int64_t patience) : patience_(patience) {
    check_input(patience >= 0, "early stopping after {} evaluations: give 0 (never) or more", patience);
  }

  /// Takes the loss of an evaluation; returns whether it is the lowest so far.
  bool evaluated(double validation_loss) { return best_.take(validation_loss); }
  bool should_stop() const { return patience_ > 0 && best_.evaluations_since >= patience_; }

  const BestLoss& best() const { return best_; }
  bool has_best() const { return best_.loss < BestLoss().loss; }
  void save(StateWriter& to) const { best_.save(to, "validation"); }
  void load(const StateReader& from) { best_.load(from, "validation"); }

 private:
  int64_t patience_;
  BestLoss best_;
};

}  // namespace rondo

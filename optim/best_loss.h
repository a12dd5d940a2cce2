// The lowest loss so far, and how many evaluations ago: shared by the plateau schedule, early stopping and
// the choice of the best model. Next: optim/schedule.h, optim/early_stopping.h.
#pragma once

#include <cstdint>
#include <limits>

#include "tensor/state.h"

namespace rondo {

/// Plain numbers, to be saved and restored.
struct BestLoss {
  double loss = std::numeric_limits<double>::max();  // finite, so that every format can hold it
  int64_t evaluations_since = 0;

  /// Takes the next loss; returns whether it is lower than all before. NaN never is.
  bool take(double next) {
    const bool better = next < loss;
    if (better) loss = next;
    evaluations_since = better ? 0 : evaluations_since + 1;
    return better;
  }

  void save(StateWriter& to, const std::string& name) const {
    to.add(name + ".best", loss);
    to.add(name + ".evaluations_since", evaluations_since);
  }
  void load(const StateReader& from, const std::string& name) {
    from.read(name + ".best", loss);
    from.read(name + ".evaluations_since", evaluations_since);
  }
};

}  // namespace rondo

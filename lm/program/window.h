// The loss and the speed of the steps since the last line of the terminal or of the log.
#pragma once

#include <cstdint>

#include "lm/training/trainer.h"

namespace rondo {

/// The mean loss and the speed of the steps since its construction.
class Window {
 public:
  void add(const StepMetrics& metrics) {
    loss_ += metrics.loss;
    scored_ += metrics.scored;
    seconds_ += metrics.seconds;
  }
  bool is_empty() const { return scored_ == 0; }
  double loss() const { return loss_ / static_cast<double>(scored_); }
  double symbols_per_second() const { return static_cast<double>(scored_) / seconds_; }

 private:
  double loss_ = 0;
  int64_t scored_ = 0;
  double seconds_ = 0;
};

}  // namespace rondo

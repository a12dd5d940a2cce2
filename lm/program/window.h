// The loss and the speed of the steps since the last line of the terminal or of the log.
#pragma once

#include <cstdint>

#include "lm/program/progress.h"
#include "lm/training/trainer.h"

namespace rondo {

/// The mean loss and the speed of the steps since its construction.
class Window {
 public:
  void add(const StepMetrics& metrics) {
    loss_ += metrics.loss;
    scored_ += metrics.scored;
  }
  bool is_empty() const { return scored_ == 0; }
  double loss() const { return loss_ / static_cast<double>(scored_); }
  double symbols_per_second() const { return static_cast<double>(scored_) / seconds_since(begin_); }

 private:
  double loss_ = 0;
  int64_t scored_ = 0;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace rondo

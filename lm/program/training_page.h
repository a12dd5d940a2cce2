// The page of a training that is running, plot.html in its run folder: lm/program/plot.h.
#pragma once

#include "lm/program/run_folder.h"
#include "tensor/clock.h"

namespace rondo {

/// Open in a browser, it is a monitor: it reloads itself until the training ends. If it cannot be written,
/// the training goes on, and one warning on stderr says so.
class TrainingPage {
 public:
  explicit TrainingPage(const RunFolder& run) : run_(run) {}
  /// The training has ended, however it did: the page no longer reloads itself.
  ~TrainingPage() { write(false); }
  TrainingPage(const TrainingPage&) = delete;
  TrainingPage& operator=(const TrainingPage&) = delete;

  /// The page of what is in the log now; the one before stays if pages would take more than a hundredth of
  /// the training's time.
  void update();

 private:
  void write(bool runs);

  RunFolder run_;
  bool has_warned_ = false;
  Clock::time_point written_{};  // the end of the last write
  double cost_ = 0;              // its seconds
};

}  // namespace rondo

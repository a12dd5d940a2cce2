// Ctrl-C and SIGTERM: the first one asks the program to finish its step and save, a second one stops it at
// once.
#pragma once

#include <csignal>

namespace rondo {

/// While one of these lives, the first SIGINT or SIGTERM is only noted, and puts the default action back for
/// a second. Only one at a time.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// The signal that came: SIGINT or SIGTERM; 0 if none.
  int received() const;
  /// What a program returns that a signal stopped: 130 or 143.
  int exit_status() const { return 128 + received(); }

 private:
  struct sigaction old_interrupt_, old_terminate_;
};

}  // namespace rondo

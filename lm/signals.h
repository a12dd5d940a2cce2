// Ctrl-C, SIGTERM and SIGHUP, as of a terminal that is closed: the first one asks the program to finish its
// step and save, a second Ctrl-C or SIGTERM stops it at once.
#pragma once

#include <csignal>

namespace rondo {

/// While one of these lives, the first SIGINT, SIGTERM or SIGHUP is only noted, and puts the default action
/// back for a second SIGINT or SIGTERM. A SIGHUP that is ignored, as under nohup, stays so. Only one at a
/// time.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// The signal that came: SIGINT, SIGTERM or SIGHUP; 0 if none.
  int received() const;
  /// What a program returns that a signal stopped: 130, 143 or 129.
  int exit_status() const { return 128 + received(); }

 private:
  struct sigaction old_interrupt_, old_terminate_, old_hang_up_;
};

}  // namespace rondo

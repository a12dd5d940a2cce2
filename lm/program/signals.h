// Ctrl-C, SIGTERM, SIGHUP, as of a terminal that is closed, and SIGPIPE, as of a reader of the output that
// has gone: the first one asks the program to finish its step and save, a second Ctrl-C or SIGTERM stops it
// at once. What has nothing to save needs none of this: signals end it.
#pragma once

#include <array>
#include <csignal>

namespace rondo {

/// Thrown where a signal ends what leaves nothing half done.
struct Stopped {
  int exit_status;  // 130, 143, 129 or 141
};

/// While one of these lives, the first SIGINT, SIGTERM, SIGHUP or SIGPIPE is only noted, and puts the default
/// action back for a second SIGINT or SIGTERM. A SIGHUP that is ignored, as under nohup, stays so, and so
/// does a SIGPIPE. Only one at a time.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// The signal that came; 0 if none.
  int received() const;
  /// Throws Stopped if one came.
  void throw_if_received() const;

 private:
  static constexpr std::array watched = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
  std::array<struct sigaction, watched.size()> before_;
};

}  // namespace rondo

// Ctrl-C, SIGTERM, SIGHUP (the terminal was closed) and SIGPIPE (the reader of the output has ended): the
// first one asks the program to finish its step and save, a second Ctrl-C or SIGTERM stops it at once.
// Commands that have nothing to save do not use this: signals end them.
#pragma once

#include <array>
#include <csignal>

namespace rondo {

/// Thrown to end a computation after a signal, once nothing is left half done.
struct Stopped {
  int exit_status;  // 130, 143, 129 or 141
};

/// While it exists, the first SIGINT, SIGTERM, SIGHUP or SIGPIPE is only recorded, and restores the default
/// action for a second SIGINT or SIGTERM. A SIGHUP (as under nohup) or SIGPIPE that is ignored stays ignored.
/// Only one may exist at a time.
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

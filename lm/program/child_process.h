// This program once more, as another process that is watched: for `lm sweep`. Next: lm/commands/sweep.cpp.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace rondo {

/// Its standard output and error are read together. A signal from the terminal does not reach it; if this
/// process dies it gets SIGTERM.
class ChildProcess {
 public:
  /// The words of a command line: the program's name, as it was typed, first. Error if it cannot be started.
  explicit ChildProcess(const std::vector<std::string>& words);
  /// Stops it as Ctrl-C would, and waits.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// To be waited for by poll(): it is readable when something was printed, or the process has ended.
  int output() const { return output_; }
  /// Reads what it has printed so far; false at the end.
  bool read();
  /// What it printed last that is not empty.
  const std::string& last_line() const { return last_line_; }
  /// The warnings that it has printed since the last call.
  std::vector<std::string> take_warnings() { return std::exchange(warnings_, {}); }
  void stop(int signal);
  /// Waits for its end, after the end of its output: its exit status, or 128 + the signal that ended it.
  int wait();

 private:
  pid_t process_ = -1;
  int output_ = -1;
  std::string unfinished_, last_line_;
  std::vector<std::string> warnings_;
};

}  // namespace rondo

// What a long computation shows: on a terminal one line that is written over, elsewhere plain lines, fewer of
// them. Deliberately knows nothing of training: callers compose the text.
#pragma once

#include <chrono>
#include <cstdio>
#include <string>

namespace rondo {

using Clock = std::chrono::steady_clock;
inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class Progress {
 public:
  /// On a terminal a status is shown at most every 0.1 s, elsewhere every 10 s.
  explicit Progress(std::FILE* file);
  /// With everything chosen by the caller; `columns` is the terminal's width.
  Progress(std::FILE* file, bool terminal, int columns, std::chrono::milliseconds interval);
  /// Removes a status that still stands on the terminal.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// True when the next status would be shown: spares its composition.
  bool due() const;
  /// Shows where the work stands, if due. One line, cut to the terminal's width.
  void status(const std::string& text);
  /// Prints a line that stays.
  void line(const std::string& text);
  /// Removes a status that stands on the terminal, before others write there.
  void erase();

 private:
  void write(const std::string& text);

  std::FILE* file_;
  bool terminal_;
  int columns_;
  std::chrono::milliseconds interval_;
  bool shown_ = false;  // a status stands on the terminal
  Clock::time_point last_;
};

/// Seconds for a reader: "7s", "2m05s", "3h20m".
std::string duration_text(double seconds);

/// A rate or a count for a reader, three digits: "950", "12.3k", "4.56M".
std::string short_number(double value);

}  // namespace rondo

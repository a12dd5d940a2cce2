// The progress of a long computation: on a terminal one line that is overwritten; elsewhere nothing, except
// for a training: a plain line once a minute. Callers compose the text.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/long_text.h"
#include "tensor/clock.h"

namespace rondo {

/// Whether a person sees there what is written. Under mpirun, that is where mpirun itself writes: it makes a
/// pseudo-terminal for rank 0, whatever its own output is.
bool is_terminal(int file);
/// The columns of a terminal's window; 80 if it is none.
int terminal_columns(int file);
/// The columns that a text takes: of UTF-8 its characters.
int columns_of(std::string_view text);
/// The text with its lines broken at spaces, so that they have at most `width` columns; a longer word has a
/// line of its own. Lines that begin with a space stay.
std::string wrapped(const std::string& text, int width);

class Progress {
 public:
  /// On a terminal a status is shown at most every 0.1 s, in lines as wide as the terminal is at that time;
  /// elsewhere every minute, the first after one. What is given counts in place of what the file is.
  explicit Progress(std::FILE* file, std::optional<bool> terminal = {}, std::optional<int> columns = {},
                    std::optional<std::chrono::milliseconds> interval = {});
  /// Removes a status that is still on the terminal.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Whether the next status would be shown, so that callers compose it only then.
  bool due() const;
  /// Shows a status on a terminal, if due: one line, cut to its width.
  void status(const std::string& text);
  /// Shows a status that is worth a line in a file, too, of parts, the most important first: those at the end
  /// that do not fit a terminal are left out.
  void status(const std::vector<std::string>& parts);
  /// Prints a line that stays.
  void line(const std::string& text);
  /// Removes a status from the terminal, before other code writes there.
  void erase();

 private:
  void write(const std::string& text);
  int columns() const { return columns_ ? *columns_ : terminal_columns(fileno(file_)); }

  std::FILE* file_;
  bool terminal_;
  std::optional<int> columns_;  // none: the terminal's
  std::chrono::milliseconds interval_;
  bool shown_ = false;  // a status is on the terminal
  Clock::time_point last_;
};

/// Seconds for a reader: "7s", "2m05s", "3h20m".
std::string duration_text(double seconds);

/// "2m05s left", or if --max-minutes end it before, in `limit` seconds: "58s left (--max-minutes)".
std::string left_text(double seconds, std::optional<double> limit = {});

/// A rate or a count for a reader, three digits: "950", "12.3k", "4.56M".
std::string short_number(double value);

/// A function that shows "WHAT 12%", the share of `items` that is done. Nothing if there was only one part.
std::function<void(std::int64_t)> progress_of(Progress& progress, const std::string& what,
                                              std::int64_t items);

/// Shows on a terminal, or as lines, how long texts are read; nothing of short ones.
ReadingProgress reading_progress(std::FILE* file);

}  // namespace rondo

// What `lm` shows while it works: progress on a terminal, plain lines where output is piped, and how a signal
// ends it.
#pragma once

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/text/source.h"
#include "tensor/profile.h"

namespace rondo {

// --- Signals ---
// Ctrl-C, SIGTERM, SIGHUP (the terminal was closed) and SIGPIPE (the reader of the output has ended): the
// first one asks the program to finish its step and save, a second Ctrl-C or SIGTERM stops it at once.
// Commands that have nothing to save do not use this: signals end them.

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

// --- Output ---
// These functions print lines, JSON and rows of symbols, and check that all was written. They make lines for
// a person printable() (data/files/lines.h), whatever names are in them.

/// Prints a line on stdout.
void print_line(const std::string& line);
/// Prints "lm: NOTE" on stderr.
void print_note(const std::string& note);
void print_notes(const std::vector<std::string>& notes);
/// Prints "lm: warning: WARNING" on stderr; nothing if it is empty.
void print_warning(const std::string& warning);

/// The object of --json, indented, with a newline; what is not UTF-8 is U+FFFD.
std::string json_text(const nlohmann::ordered_json& json);
void print_json(const nlohmann::ordered_json& json);

/// A row of --per-symbol: where the symbol is, its text as in vocab.txt, its natural-log probability.
void print_symbol(std::string_view id, std::string_view symbol, double nats);

/// Flushes standard output. Throws Stopped, as for SIGPIPE, if it is a closed pipe and the signal is ignored;
/// Throws Error if it cannot be written.
void flush_output();

// --- Progress ---
// The progress of a long computation: on a terminal one line that is overwritten; elsewhere nothing, except
// for a training: a plain line once a minute. Callers compose the text.

/// Whether a person sees there what is written. Not under mpirun: it makes a pseudo-terminal for rank 0,
/// whatever its own output is.
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
  /// elsewhere every minute, the first after 5 s, so that one soon knows how long a training takes. What is
  /// given counts in place of what the file is.
  explicit Progress(std::FILE* file, std::optional<bool> terminal = {}, std::optional<int> columns = {},
                    std::optional<std::chrono::milliseconds> interval = {});
  /// Removes a status that is still on the terminal.
  ~Progress() { erase(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Whether the next status would be shown, so that callers compose it only then.
  bool due() const { return Clock::now() - last_ >= interval_; }
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

/// A rate or a count for a reader, three digits: "950", "12.3k", "4.56M".
std::string short_number(double value);

/// A function that shows "WHAT 12%", the share of `items` that is done. Nothing if there was only one part.
std::function<void(std::int64_t)> progress_of(Progress& progress, const std::string& what,
                                              std::int64_t items);

/// Shows on a terminal, or as lines, how long texts are read; nothing of short ones.
ReadingProgress reading_progress(std::FILE* file);

}  // namespace rondo

// Signals, output and progress: see terminal.h.
#include "lm/program/terminal.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "data/files/lines.h"
#include "lm/program/compute.h"
#include "tensor/error.h"

namespace rondo {

// --- Signals ---

namespace {

volatile std::sig_atomic_t received_signal = 0;

void note(int number) {
  received_signal = number;
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGHUP, SIG_IGN);   // a closed terminal sends it more than once
  std::signal(SIGPIPE, SIG_IGN);  // each further line sends it again
}

}  // namespace

StopSignals::StopSignals() {
  received_signal = 0;
  struct sigaction action {};
  action.sa_handler = note;
  action.sa_flags = SA_RESTART;  // a system call in progress is continued
  for (std::size_t i = 0; i < watched.size(); ++i) {
    const bool may_be_ignored = watched[i] == SIGHUP || watched[i] == SIGPIPE;
    sigaction(watched[i], nullptr, &before_[i]);
    if (!may_be_ignored || before_[i].sa_handler != SIG_IGN) sigaction(watched[i], &action, nullptr);
  }
}

StopSignals::~StopSignals() {
  for (std::size_t i = 0; i < watched.size(); ++i) sigaction(watched[i], &before_[i], nullptr);
}

int StopSignals::received() const { return received_signal; }

void StopSignals::throw_if_received() const {
  if (const int signal = received()) throw Stopped{128 + signal};
}

// --- Output ---

void print_notes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) print_note(note);
}

void print_line(const std::string& line) { fmt::print("{}\n", printable(line)); }

void print_note(const std::string& note) { fmt::print(stderr, "lm: {}\n", printable(note)); }

void print_warning(const std::string& warning) {
  if (!warning.empty()) print_note("warning: " + warning);
}

std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}
void print_json(const nlohmann::ordered_json& json) { fmt::print("{}", json_text(json)); }

void print_symbol(std::string_view id, std::string_view symbol, double nats) {
  fmt::print("{}\t{}\t{:.6f}\n", id, symbol, 0 - nats);  // 0 - 0 is not -0
}

void flush_output() {
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return;
  pollfd state{STDOUT_FILENO, POLLOUT, 0};  // errno may be from an earlier write
  if (poll(&state, 1, 0) == 1 && (state.revents & POLLERR) != 0) throw Stopped{128 + SIGPIPE};
  throw Error("cannot write to standard output: is the disk full?");
}

// --- Progress ---

namespace {

using namespace std::chrono_literals;

/// The first `columns` characters of UTF-8 text.
std::string cut(const std::string& text, int columns) {
  std::size_t end = 0;
  for (int seen = 0; end < text.size(); ++end) {
    if (!continues_character(text[end]) && seen++ == columns) break;
  }
  return text.substr(0, end);
}

}  // namespace

bool is_terminal(int file) { return isatty(file) == 1 && started_together() < 2; }

int terminal_columns(int file) {
  winsize size{};
  return ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

int columns_of(std::string_view text) {
  return static_cast<int>(std::ranges::count_if(text, [](char it) { return !continues_character(it); }));
}

std::string wrapped(const std::string& text, int width) {
  std::string all;
  for (std::string_view rest : split_lines(text)) {
    const bool stays = rest.starts_with(' ');
    while (!stays && columns_of(rest) > width) {
      // The space before the first word that does not fit; of a longer word the space after it.
      const std::size_t fitting = cut(std::string(rest), width + 1).size();
      std::size_t end = rest.rfind(' ', fitting - 1);
      if (end == rest.npos) end = rest.find(' ');
      if (end == rest.npos) break;
      all += fmt::format("{}\n", rest.substr(0, end));
      rest.remove_prefix(end + 1);
    }
    all += fmt::format("{}\n", rest);
  }
  if (!all.empty()) all.pop_back();  // the last newline
  return all;
}

Progress::Progress(std::FILE* file, std::optional<bool> terminal, std::optional<int> columns,
                   std::optional<std::chrono::milliseconds> interval)
    : file_(file),
      terminal_(terminal ? *terminal : is_terminal(fileno(file))),
      columns_(columns),
      interval_(interval.value_or(terminal_ ? 100ms : std::chrono::milliseconds(1min))),
      last_(Clock::now() - interval_ +
            (terminal_ ? 0ms : std::min<std::chrono::milliseconds>(interval_, 5s))) {}

// Does not throw: a training should not end because its terminal hangs up. flush_output() reports the error
// at the end.
void Progress::write(const std::string& text) {
  std::fputs(text.c_str(), file_);
  std::fflush(file_);
}

void Progress::status(const std::string& text) {
  if (!terminal_ || !due()) return;
  last_ = Clock::now();
  // One column stays free: on some terminals a full line wraps.
  write("\r" + cut(printable(text), columns() - 1) + "\x1b[K");
  shown_ = true;
}

void Progress::status(const std::vector<std::string>& parts) {
  if (!due() || parts.empty()) return;
  std::string text = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::string longer = text + "  " + parts[i];
    if (terminal_ && columns_of(longer) > columns() - 1) break;
    text = longer;
  }
  if (terminal_) return status(text);
  last_ = Clock::now();
  write(printable(text) + "\n");
}

void Progress::line(const std::string& text) {
  erase();
  write(printable(text) + "\n");
}

void Progress::erase() {
  if (!shown_) return;
  write("\r\x1b[K");
  shown_ = false;
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<long long>(std::llround(std::max(seconds, 0.0)));
  if (whole < 60) return fmt::format("{}s", whole);
  if (whole < 3600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  return fmt::format("{}h{:02}m", whole / 3600, whole / 60 % 60);
}

std::string short_number(double value) {
  constexpr std::array suffixes = {"", "k", "M", "G", "T"};
  std::size_t thousands = 0;
  while (value >= 999.5 && thousands + 1 < suffixes.size()) {
    value /= 1000;
    ++thousands;
  }
  const int digits = thousands == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f}{}", value, digits, suffixes[thousands]);
}

std::function<void(std::int64_t)> progress_of(Progress& progress, const std::string& what,
                                              std::int64_t items) {
  return [&progress, what, items](std::int64_t done) {
    if (done < items)
      progress.status(
          fmt::format("{}  {:.0f}%", what, 100.0 * static_cast<double>(done) / static_cast<double>(items)));
  };
}

ReadingProgress reading_progress(std::FILE* file) {
  return [progress = std::make_shared<Progress>(file)](const std::string& what, std::int64_t done,
                                                       std::int64_t all) {
    if (done < all && progress->due())
      progress->status(fmt::format("{} {}%", what, 100 * done / all));
    else if (done >= all)
      progress->erase();
  };
}

}  // namespace rondo

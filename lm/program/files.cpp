// Files that `lm` reads and writes. POSIX calls read lines: streams of the standard library do not tell what
// they have buffered, and so not whether a line can be read without waiting.
#include "lm/program/files.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <limits>
#include <system_error>
#include <utility>

#include "data/files/files.h"
#include "data/files/lines.h"
#include "lm/program/run.h"
#include "tensor/error.h"

namespace rondo {

// --- Paths ---

namespace fs = std::filesystem;

fs::path absolute_path(const fs::path& path) { return fs::absolute(path).lexically_normal(); }

std::string last_name(const fs::path& path) {
  return (absolute_path(path) / "").parent_path().filename().string();
}

std::string file_to_read(const std::string& given) { return given == "-" ? "/dev/stdin" : given; }

// --- Files to write ---

fs::path file_to_write(const std::string& option, const std::string& name,
                       const std::vector<std::string>& read) {
  if (name.empty()) return {};
  const auto check_name = [&](bool ok, const std::string& why) {
    check_input(ok, "{} {}: {}; give another file", option, name, why);
  };
  std::error_code error;
  const fs::file_status status = fs::status(name, error);
  check_name(status.type() != fs::file_type::none, error.message());
  const bool exists = fs::exists(status);
  check_name(!exists || fs::is_regular_file(status), "a folder, a pipe or a device, not a file");
  const fs::path file = fs::weakly_canonical(fs::absolute(name), error), folder = file.parent_path();
  check_name(!error, error.message());
  check_name(exists || !fs::is_symlink(fs::symlink_status(file, error)),
             "a link to a file that does not exist");
  check_name(fs::is_directory(folder, error), "there is no folder " + folder.string());
  check_name(!is_file_of_run(file), "is a file of the run " + folder.string());
  check_name(access(folder.c_str(), W_OK) == 0, "cannot be written");
  for (const std::string& it : read)
    check_name(it.empty() || !exists || !fs::equivalent(file, it, error), "is read by this command");
  return file;
}

void check_folder_to_write(const std::string& option, const std::string& folder) {
  std::error_code error;
  fs::path there = absolute_path(folder);  // the part of it that exists
  while (fs::symlink_status(there, error).type() == fs::file_type::not_found) there = there.parent_path();
  check_input(fs::is_directory(there, error), "{} {}: {} is not a folder; give another one", option, folder,
              there.string());
  check_input(access(there.c_str(), W_OK) == 0, "{} {}: {} cannot be written to; give another folder", option,
              folder, there.string());
}

// --- Lines of JSON ---

/// The parser would take a NUL for the end, and a disk that lost power leaves some.
bool is_json_object(std::string_view line) {
  return line.starts_with('{') && line.find('\0') == std::string_view::npos && nlohmann::json::accept(line);
}

// Copying JSON is recursive, and deep nesting would overflow the stack. Our lines are not deep.
nlohmann::json parse_json_line(std::string_view line) {
  constexpr int deepest = 6;
  const auto check_depth = [](int depth, nlohmann::json::parse_event_t, const nlohmann::json&) {
    check_input(depth <= deepest, "nested too deeply");
    return true;
  };
  return nlohmann::json::parse(line, check_depth);
}

// nlohmann::json is a map; ordered_json would search all keys for each access.
void read_json_lines(const std::filesystem::path& path, const std::string& writer,
                     const std::function<bool(const nlohmann::json&)>& use) {
  if (!file_is_there(path)) return;
  std::int64_t number = 0;
  read_lines(path, [&](std::string_view line, bool ended) {
    if (!ended && !is_json_object(line)) return;
    ++number;
    std::string why;
    try {
      check_input(line.find('\0') == std::string_view::npos, "it has a NUL");
      if (use(parse_json_line(line))) return;
    } catch (const nlohmann::json::exception&) {  // not JSON, or without what belongs there
    } catch (const InputError& reason) {
      why = fmt::format(" ({})", reason.what());
    }
    throw InputError(
        fmt::format("{}:{}: not a line that {}{}; remove it", path.string(), number, writer, why));
  });
}

std::string time_text() { return fmt::format("{:%Y-%m-%dT%H:%M:%S}Z", fmt::gmtime(std::time(nullptr))); }

std::int64_t integer_at(const nlohmann::json& entry, const std::string& key) {
  const nlohmann::json& value = entry.at(key);
  const bool fits = value.is_number_unsigned()
                        ? value.get<std::uint64_t>() <= std::numeric_limits<std::int64_t>::max()
                        : value.is_number_integer();
  check_input(fits, "{} must be a whole number below 2^63", key);
  return value.get<std::int64_t>();
}

double figure_at(const nlohmann::json& entry, const std::string& key) {
  const nlohmann::json& value = entry.at(key);
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

double figure_at(const nlohmann::json& entry, const std::string& key, double otherwise) {
  return entry.contains(key) ? figure_at(entry, key) : otherwise;
}

// --- Lines of input ---

InputLines::InputLines() : name_("standard input") {}

InputLines::InputLines(const std::filesystem::path& path)
    : file_(std::make_unique<UnpackedFile>(path, Pipes::accepted)), name_(path.string()) {}

bool InputLines::next(std::string& line) {
  constexpr int for_ever = -1;
  while (!has_line() && !ended_) receive(for_ever);
  if (begin_ == buffer_.size()) return false;
  line.assign(buffer_, begin_, searched_ - begin_);
  begin_ = searched_ = std::min(searched_ + 1, buffer_.size());
  if (++number_ == 1) check_kind(line, name_);
  return true;
}

bool InputLines::is_there() {
  while (!has_line() && !ended_)
    if (!receive(0)) return false;
  return true;
}

std::string InputLines::name() const { return fmt::format("{}, line {}", name_, number_); }

/// Takes what has come; false if nothing has come in time.
bool InputLines::receive(int milliseconds) {
  std::string part;
  if (file_) {
    part = file_->read();
  } else {
    pollfd state{STDIN_FILENO, POLLIN, 0};
    const int ready = poll(&state, 1, milliseconds);
    check_system<InputError>(ready >= 0 || errno == EINTR, "{}: cannot be waited for", name_);
    if (ready != 1) return false;
    part.resize(1 << 16);
    const ssize_t count = read(STDIN_FILENO, part.data(), part.size());
    if (count < 0 && errno == EINTR) return false;
    check_system<InputError>(count >= 0, "{}: cannot be read", name_);
    part.resize(static_cast<std::size_t>(count));
  }
  ended_ = part.empty();
  buffer_.erase(0, begin_);
  searched_ -= begin_;
  begin_ = 0;
  buffer_ += part;
  return true;
}

/// Whether a newline has come; then it is at searched_.
bool InputLines::has_line() {
  searched_ = std::min(buffer_.find('\n', searched_), buffer_.size());
  check_input(searched_ - begin_ <= longest_input_line, "{}, line {}: longer than {} bytes; split it", name_,
              number_ + 1, longest_input_line);
  return searched_ < buffer_.size();
}

void answer_lines(InputLines& lines, std::int64_t batch,
                  const std::function<void(const std::vector<InputLine>&)>& answer) {
  constexpr std::size_t most_lines = 1024;
  std::vector<InputLine> some;
  std::size_t bytes = 0;
  const auto answer_some = [&] {
    const std::vector<InputLine> all = std::exchange(some, {});
    bytes = 0;
    if (all.empty()) return;
    try {
      answer(all);
    } catch (const InputError&) {  // of one of the lines
      if (all.size() > 1)
        for (const InputLine& line : all) answer({line});
      throw;
    }
  };
  try {
    for (std::string line; lines.next(line);) {
      bytes += line.size();
      some.push_back({line, lines.name()});
      const bool is_full = batch == as_many_as_have_come ? some.size() == most_lines || !lines.is_there()
                                                         : std::ssize(some) == batch;
      if (is_full || bytes >= longest_input_line) answer_some();
    }
  } catch (const InputError&) {  // what came before it has been read, and not been answered
    answer_some();
    throw;
  }
  answer_some();
}

}  // namespace rondo

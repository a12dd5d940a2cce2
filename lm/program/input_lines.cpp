// Lines of standard input or a file. POSIX calls: streams of the standard library do not tell what they have
// buffered, and so not whether a line can be read without waiting.
#include "lm/program/input_lines.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include "data/file_kind.h"
#include "tensor/check_system.h"

namespace rondo {

InputLines::InputLines(std::function<void()> while_waiting, std::string advice)
    : file_(STDIN_FILENO),
      name_("standard input"),
      while_waiting_(std::move(while_waiting)),
      advice_(std::move(advice)) {}

InputLines::InputLines(const std::filesystem::path& path, std::string advice)
    : name_(printable(path.string())), advice_(std::move(advice)) {
  if (is_packed(path)) {
    unpacked_ = std::make_unique<UnpackedFile>(path);
  } else {
    file_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    check_system<InputError>(file_ >= 0, "{}: cannot be opened", path.native());
  }
}

InputLines::~InputLines() {
  if (file_ != STDIN_FILENO && file_ >= 0) close(file_);
}

bool InputLines::next(std::string& line) {
  while (!has_line() && !ended_)
    // Not for ever: a signal that comes just before the waiting does not end it.
    if (!receive(100) && while_waiting_) while_waiting_();
  if (begin_ == buffer_.size()) return false;
  line.assign(buffer_, begin_, searched_ - begin_);
  begin_ = searched_ = std::min(searched_ + 1, buffer_.size());
  ++number_;
  return true;
}

bool InputLines::is_there() {
  while (!has_line() && !ended_)
    if (!receive(0)) return false;
  return true;
}

void InputLines::check_kind(std::string_view line) const {
  const std::string kind = number_ == 1 ? kind_of_file(line) : "";
  check_input(kind.empty(), "{}: looks like {}", name_, kind);
}

std::string InputLines::name() const { return fmt::format("{}, line {}", name_, number_); }

/// Takes what has come; false if nothing has come in time.
bool InputLines::receive(int milliseconds) {
  const auto take = [&](std::string_view part) {
    ended_ = part.empty();
    buffer_.erase(0, begin_);
    searched_ -= begin_;
    begin_ = 0;
    buffer_ += part;
    return true;
  };
  if (unpacked_) return take(unpacked_->read());
  pollfd state{file_, POLLIN, 0};
  const int ready = poll(&state, 1, milliseconds);
  check_system<InputError>(ready >= 0 || errno == EINTR, "{}: cannot be waited for", name_);
  if (ready != 1) return false;
  std::array<char, 1 << 16> part;
  const ssize_t count = read(file_, part.data(), part.size());
  if (count < 0 && errno == EINTR) return false;
  check_system<InputError>(count >= 0, "{}: cannot be read", name_);
  return take({part.data(), static_cast<std::size_t>(count)});
}

/// Whether a newline has come; then it is at searched_.
bool InputLines::has_line() {
  searched_ = std::min(buffer_.find('\n', searched_), buffer_.size());
  check_input(searched_ - begin_ <= longest_input_line, "{}, line {}: longer than {} bytes; {}", name_,
              number_ + 1, longest_input_line, advice_);
  return searched_ < buffer_.size();
}

void answer_lines(Task& task, Module& model,
                  const std::function<void(const std::vector<LineAnswer>&)>& print) {
  InputLines lines;
  answer_lines(
      lines,
      [](const std::string& text, const std::string& name) {
        return InputLine{text, name};
      },
      [&](const std::vector<InputLine>& some) {
        std::vector<LineAnswer> answers;
        try {
          answers = task.answer(model, some);
        } catch (const InputError&) {  // of one of the lines
          for (const InputLine& line : some) print(task.answer(model, {line}));
          throw;
        }
        print(answers);
      });
}

}  // namespace rondo

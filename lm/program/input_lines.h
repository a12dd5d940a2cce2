// Lines of standard input or of a file, for commands that answer each of them: `lm score`, `lm translate`,
// `lm classify`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/unpacked_file.h"
#include "lm/tasks/task.h"
#include "tensor/error.h"

namespace rondo {

/// In bytes: a whole line is held in memory.
constexpr std::size_t longest_input_line = 4 << 20;

/// Standard input, which comes from a file at once and from a person line by line. Nothing else may read it.
class InputLines {
 public:
  /// `while_waiting` is called several times a second as long as no line comes; it may throw. `advice` ends
  /// the error text for a line that is too long.
  explicit InputLines(std::function<void()> while_waiting = {}, std::string advice = "split it");
  /// The lines of a file, packed or not, or a pipe, by its path. InputError if it cannot be opened.
  InputLines(const std::filesystem::path& path, std::string advice);
  ~InputLines();
  InputLines(const InputLines&) = delete;
  InputLines& operator=(const InputLines&) = delete;

  /// The next line, without its newline; false at the end. InputError if it cannot be read (standard input is
  /// closed, or a folder) or is too long.
  bool next(std::string& line);
  /// Whether next() would not wait: a whole line has come, or the end. The same InputErrors.
  bool is_there();

  /// InputError if `line`, the first one, begins like a file of another kind, such as a packed one.
  void check_kind(std::string_view line) const;

  /// "standard input, line 3", of the line that next() gave.
  std::string name() const;
  /// Of that line, from 1; 0 before the first.
  std::int64_t number() const { return number_; }

 private:
  bool receive(int milliseconds);
  bool has_line();

  int file_ = -1;                           // -1: a packed file
  std::unique_ptr<UnpackedFile> unpacked_;  // that one
  std::string name_;
  std::function<void()> while_waiting_;
  std::string advice_;
  std::string buffer_;
  std::size_t begin_ = 0;     // of the next line
  std::size_t searched_ = 0;  // no newline from begin_ to here
  bool ended_ = false;
  std::int64_t number_ = 0;  // of the last line, from 1
};

/// Makes an item of each line by `read(line, name)`, and passes the items to `answer` in batches, each as
/// soon as `is_full(items)` holds. What precedes a line that is refused is answered before the InputError. A
/// packed file is refused.
template <class Read, class Answer, class IsFull>
void answer_lines(InputLines& lines, Read read, Answer answer, IsFull is_full) {
  std::vector<decltype(read(std::string(), std::string()))> items;
  const auto answer_items = [&] {
    if (!items.empty()) answer(std::exchange(items, {}));
  };
  try {
    for (std::string line; lines.next(line);) {
      lines.check_kind(line);
      items.push_back(read(line, lines.name()));
      if (is_full(items)) answer_items();
    }
  } catch (const InputError&) {
    answer_items();
    throw;
  }
  answer_items();
}
/// The same in batches of as many lines as have come, up to 1024.
template <class Read, class Answer>
void answer_lines(InputLines& lines, Read read, Answer answer) {
  constexpr std::size_t at_once = 1024;
  answer_lines(lines, read, answer,
               [&](const auto& items) { return items.size() == at_once || !lines.is_there(); });
}

/// Answers standard input by the task of a run: `print` gets the answers to some lines, as soon as these have
/// come. InputError for a line that cannot be read; those before it are answered.
void answer_lines(Task& task, Module& model,
                  const std::function<void(const std::vector<LineAnswer>&)>& print);

}  // namespace rondo

// Files and lines as `lm` reads and writes them: paths, files to write, lines of JSON, lines of standard
// input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "data/files/input_file.h"
#include "lm/tasks/task.h"

namespace rondo {

// --- Paths ---
// Paths as they are recorded and shown.

/// The same file from any folder: absolute, without `.` and `..`. Links are not followed, nothing is looked
/// up.
std::filesystem::path absolute_path(const std::filesystem::path& path);

/// The name of a file or a folder, however it is given: "ptb" of "data/ptb/" and, in the folder ptb, of ".".
std::string last_name(const std::filesystem::path& path);

/// The file that a command reads where `given` names one: "-" is standard input.
std::string file_to_read(const std::string& given);

// --- Files to write ---
// The files that options name for output: `lm ngram --out`, `lm plot --out` and the like. They are
// checked before the work begins, so that nothing is computed in vain.

/// Returns the file that `option` names, absolute and with links resolved; an empty path for an empty name.
/// Creates nothing: the file is to be replaced (write_atomically(), data/files/files.h). `read` are files
/// that the command reads. InputError, naming the option, for what is not a file or cannot be written, for a
/// folder that does not exist, for a file of a run, and for one of `read`.
std::filesystem::path file_to_write(const std::string& option, const std::string& name,
                                    const std::vector<std::string>& read = {});

/// Throws InputError, naming the option, unless `folder` is one that can be written to, or can be made.
/// Creates nothing.
void check_folder_to_write(const std::string& option, const std::string& folder);

// --- Lines of JSON ---
// Files with one JSON object per line: log.jsonl and evaluations.jsonl.

/// Whether a line is complete: one JSON object.
bool is_json_object(std::string_view line);

/// The value that a line has. InputError for one that is nested deeply; the parser's exceptions.
nlohmann::json parse_json_line(std::string_view line);

/// Calls `use` with each line; never if the file does not exist. An incomplete last line, which a killed
/// process may leave, is not read. `use` returns whether the object is a line of this file. If it returns
/// false, finds something missing or throws InputError, or a line is not JSON: InputError "FILE:LINE: not a
/// line that WRITER", with the reason of an InputError. InputErrors of read_lines().
void read_json_lines(const std::filesystem::path& path, const std::string& writer,
                     const std::function<bool(const nlohmann::json&)>& use);

/// Now, in UTC, as ISO 8601: "2026-11-26T02:48:07Z".
std::string time_text();

/// An integer. InputError for other numbers and for integers beyond 64 bits, which a conversion would accept.
std::int64_t integer_at(const nlohmann::json& entry, const std::string& key);
/// A figure; NaN where it is null, which is how JSON has figures that are not finite. Other types throw.
double figure_at(const nlohmann::json& entry, const std::string& key);
/// Returns the figure that a line may have, and `otherwise` where it is absent.
double figure_at(const nlohmann::json& entry, const std::string& key, double otherwise);

// --- Lines of input ---
// Lines of standard input or of a file, for commands that answer each of them.

/// In bytes: a whole line is held in memory.
constexpr std::size_t longest_input_line = 4 << 20;

/// Lines of standard input, which come from a file at once and from a person one by one, or of a file.
/// Nothing else may read standard input.
class InputLines {
 public:
  InputLines();
  /// The lines of a file, packed or not, or a pipe, by its path. InputErrors of UnpackedFile.
  explicit InputLines(const std::filesystem::path& path);

  /// The next line, without its newline; false at the end. InputError if it cannot be read (standard input is
  /// closed, or a folder), is too long, or if the first one begins like a file of another kind, such as a
  /// packed one.
  bool next(std::string& line);
  /// Whether next() would not wait: a whole line has come, or the end. The same InputErrors.
  bool is_there();

  /// "standard input, line 3", of the line that next() gave.
  std::string name() const;

 private:
  bool receive(int milliseconds);
  bool has_line();

  std::unique_ptr<UnpackedFile> file_;  // null: standard input
  std::string name_;
  std::string buffer_;
  std::size_t begin_ = 0;     // of the next line
  std::size_t searched_ = 0;  // no newline from begin_ to here
  bool ended_ = false;
  std::int64_t number_ = 0;  // of the last line, from 1
};

constexpr std::int64_t as_many_as_have_come = 0;
/// Passes lines to `answer`, `batch` of them at a time, or as many as have come, but no more than 1024 or 4
/// MiB. If `answer` throws InputError, it gets each line alone, so that those before a refused one are
/// answered: it must have done nothing before it throws.
void answer_lines(InputLines& lines, std::int64_t batch,
                  const std::function<void(const std::vector<InputLine>&)>& answer);

}  // namespace rondo

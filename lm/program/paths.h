// Paths as they are recorded and shown.
#pragma once

#include <filesystem>
#include <string>

namespace rondo {

/// The same file from any folder: absolute, without `.` and `..`. Links are not followed, nothing is looked
/// up.
std::filesystem::path absolute_path(const std::filesystem::path& path);

/// The name of a file or a folder, however it is given: "ptb" of "data/ptb/" and, in the folder ptb, of ".".
std::string last_name(const std::filesystem::path& path);

/// The file that a command reads where `given` names one: "-" is standard input.
std::string file_to_read(const std::string& given);

}  // namespace rondo

// Commands as text that a shell takes.
#include "lm/program/shell_command.h"

#include <cerrno>
#include <string_view>

namespace rondo {

std::string shell_command(const std::vector<std::string>& words) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=,:@%+";
  std::string command;
  for (const std::string& word : words) {
    if (&word != words.data()) command += ' ';
    if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) {
      command += word;
      continue;
    }
    command += '\'';
    for (const char letter : word) command += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    command += '\'';
  }
  return command;
}

std::string this_program() { return shell_command({program_invocation_name}); }

std::string command_with(const std::vector<std::string>& words) {
  return this_program() + " " + shell_command(words);
}

std::string resume_command(const std::filesystem::path& folder, const std::vector<std::string>& more) {
  std::vector<std::string> words{"train", "--out", folder.string(), "--resume"};
  words.insert(words.end(), more.begin(), more.end());
  return command_with(words);
}

}  // namespace rondo

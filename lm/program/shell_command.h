// Commands as text that a shell takes: the one that made a run, and those that hints tell the user to type,
// which begin with the program as it was started.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace rondo {

/// The words, each quoted if a shell would change it.
std::string shell_command(const std::vector<std::string>& words);

/// The program as it was started: "lm", "build/bin/lm".
std::string this_program();

/// The command of this program with these words.
std::string command_with(const std::vector<std::string>& words);
/// The command that resumes the interrupted run in a folder; `more` are further words.
std::string resume_command(const std::filesystem::path& folder, const std::vector<std::string>& more = {});

}  // namespace rondo

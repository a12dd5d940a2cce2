// What ends an error text: the known name that a misspelt or foreign one stands for, and commands to copy
// into a shell.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace rondo {

// --- Nearest names ---
// The nearest known name to a mistyped one, for error texts.

/// Edits (insert, delete, replace, swap of neighbours) that turn `a` into `b`. Damerau 1964, restricted form.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The known name that needs the fewest edits, at most two fifths of the length of the longer name, or that
/// begins so; "" if there is none. Dashes before names do not count. Of dotted names the last part is
/// compared: "dropout" and "train.dropout" are near "model.dropout", "train.lr" is near nothing.
std::string nearest(std::string_view name, const std::vector<std::string>& known);

/// The end of an error text for a name that is none of the known ones: "; here it is 'x'" for one of the
/// forty most usual names that other programs have, "; did you mean 'x'?" for a misspelt one; else
/// `otherwise`.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& known,
                         const std::string& otherwise);
/// The same, with "; known: a, b, c" otherwise.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& known);

// --- Commands for a shell ---
// Commands as text that a shell takes: the one that made a run, and those that hints tell the user to type,
// which begin with the program as it was started.

/// The words, each quoted if a shell would change it, so that printable() changes nothing.
std::string shell_command(const std::vector<std::string>& words);

/// The program as it was started: "lm", "build/bin/lm".
std::string this_program();

/// The command of this program with these words.
std::string command_with(const std::vector<std::string>& words);
/// The command that resumes the interrupted run in a folder.
std::string resume_command(const std::filesystem::path& folder);

}  // namespace rondo

// The command line of `lm`: from words to a command, and from an exception to one line and an exit status;
// the known name that a misspelt or foreign one stands for, and commands to copy into a shell. The commands
// add themselves: lm/commands/all_commands.cpp. What their options have in common: lm/commands/options.h.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

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

// --- Command line ---

/// What was typed, with the program's name, and the parser to which each command adds itself.
struct CommandLine {
  CLI::App& app;
  std::vector<std::string> words;
};

/// A command with its options. `run` is called once these are read: it checks them, does what the command is
/// for, and returns the exit status.
struct Command {
  CLI::App* app;
  std::function<int()> run;
};
using AddCommand = Command(CommandLine&);

/// Runs the command that the words name, one of `commands`, and returns the exit status: 2 for bad words and
/// input, 1 for a failure while running, 128 + the signal that stopped it. A failure is one line on stderr;
/// it names the nearest command or option to an unknown one.
int run_program(int argc, const char* const* argv, const std::vector<AddCommand*>& commands);

/// The error text of the exception being handled, on one line as printable(), and the exit status: 2 for
/// InputError, 1 for everything else.
struct Failure {
  std::string text;
  int exit_status;
};
Failure current_failure();
/// Prints it on stderr, after what stdout has; returns the exit status.
int report_failure();

}  // namespace rondo

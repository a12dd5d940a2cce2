// The command line of `lm`: from words to a command, and from an exception to one line and an exit status;
// the nearest name to a misspelt one, commands to copy into a shell, and the names that other programs have
// for options. The commands add themselves: lm/commands.
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

/// The end of an error text: "; did you mean 'x'?", or "; known: a, b, c" if no name is near.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& known);
/// The same, with `otherwise` if no name is near.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& known,
                         const std::string& otherwise);

// --- Commands for a shell ---
// Commands as text that a shell takes: the one that made a run, and those that hints tell the user to type,
// which begin with the program as it was started.

/// The words, each quoted if a shell would change it.
std::string shell_command(const std::vector<std::string>& words);

/// The program as it was started: "lm", "build/bin/lm".
std::string this_program();

/// The command of this program with these words.
std::string command_with(const std::vector<std::string>& words);
/// The command that resumes the interrupted run in a folder; `more` are further words.
std::string resume_command(const std::filesystem::path& folder, const std::vector<std::string>& more = {});

// --- Names of other programs ---
// Names that other programs use for a setting, an option, a command or a value of this one: for error texts
// that give the right name.

/// The key of a setting that others call so ("lr", "train.lr", "batch-size"); empty: none.
std::string setting_called(std::string_view name);
/// The key of language models with this last word ("hidden", "weight-decay"), the first if there are several,
/// and none of published figures; empty: none.
std::string setting_ending_in(std::string_view word);

/// The command that others call so ("test"); empty: none.
std::string command_called(std::string_view name);

/// The option, one of `flags`, that others call so ("gpu"), and its value ("--device cuda"); empty: none.
std::string option_called(std::string_view name, const std::vector<std::string>& flags);

/// The end of an error text for a value that is none of these choices: the choice that others call so
/// ("gpu"), else the nearest one; else empty.
std::string instead_of_value(const std::string& value, const std::vector<std::string>& choices);

// --- Command line ---
// The command line of `lm`: from words to a command, and from an exception to one line and an exit status.
// The commands add themselves: lm/commands/commands.h. What their options have in common:
// lm/commands/options.h.

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

/// The error text of the exception being handled, on one line without control characters, and the exit
/// status: 2 for InputError, 1 for everything else.
struct Failure {
  std::string line;
  int exit_status;
};
Failure current_failure();

}  // namespace rondo

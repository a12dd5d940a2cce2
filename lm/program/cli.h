// The command line of `lm`: from words to a command, and from an exception to one line and an exit status.
// The commands add themselves: lm/commands/all_commands.cpp. What their options have in common:
// lm/commands/options.h.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lm/settings/remedies.h"

namespace CLI {
class App;
}

namespace rondo {

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

// The commands and options of the parser as data, for what is generated from them: the manual page
// (lm/program/manual.h) and the completion of shells (lm/program/completion.h).
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace rondo {

/// What a value is, as far as a shell can complete it.
enum class ValueKind { none, other, choice, folder, file, recipe, setting };

struct ListedOption {
  std::vector<std::string> names;  // "-n", "--prompt"; of a pure positional argument none
  std::string value;               // "N", "FILE", "FILE..."; empty: a flag
  std::string what;
  ValueKind kind = ValueKind::none;
  std::vector<std::string> choices;  // of kind choice
  bool repeats = false;              // may be given more than once
  bool positional = false;           // may be given without a name
};

/// An option's description, with its default and the options that it cannot stand beside.
std::string explained(const CLI::Option& option);

ListedOption listed(const CLI::Option& option);

/// Of a command, or of the program itself: the positional arguments first.
std::vector<ListedOption> options_of(const CLI::App& command);

/// The names of all commands, in the order of the help.
std::vector<const CLI::App*> commands_of(const CLI::App& app);

}  // namespace rondo

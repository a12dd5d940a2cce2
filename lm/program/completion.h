// Completion of `lm` for shells, from the options of its parser.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace rondo {

enum class Shell { bash, zsh };
inline std::vector<std::string> names_of(Shell) { return {"bash", "zsh"}; }

/// A script for the shell: commands, options, their choices, the names of built-in recipes, keys of settings,
/// files and folders.
std::string completion_script(const CLI::App& app, Shell shell);

}  // namespace rondo

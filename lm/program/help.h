// What `lm --help` and `lm COMMAND --help` print: CLI11's help, wrapped to the terminal.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace rondo {

/// The text in lines of at most `width` columns (UTF-8), broken at spaces; a longer word has a line of its
/// own. Lines that follow each other are one paragraph, except those that begin with a space: these stay.
std::string wrapped(const std::string& text, int width);

/// All commands, in the order of the help.
std::vector<const CLI::App*> commands_of(const CLI::App& app);

/// Makes `app` and its commands print help in lines of at most `width` columns.
void wrap_help(CLI::App& app, int width);

}  // namespace rondo

// The manual page of `lm`, from the texts of its help.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace rondo {

/// In roff, with the macros of man(7): what `man` shows.
std::string manual_page(const CLI::App& app);

}  // namespace rondo

// The check of a section of a recipe, for the validation of recipes of all tasks.
#pragma once

#include <fmt/format.h>

#include <string>

#include "tensor/error.h"

namespace rondo {

/// The options' own check_options(). Its InputError gets `where` (a recipe's name or file) before its text,
/// and, because that begins with the name of a key, the section: "FILE: train.batch = 0: ...". Without a
/// `section` the text has it already.
template <class Options>
void check_section(const std::string& where, const std::string& section, const Options& options) {
  try {
    check_options(options);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}{}{}", where, section, section.empty() ? "" : ".", error.what()));
  }
}

}  // namespace rondo

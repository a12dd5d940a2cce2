// Checks that the validation of recipes of all tasks shares.
#pragma once

#include <fmt/format.h>

#include <cstdint>
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

/// InputError, naming the key, for a single row at a time, over which batch normalisation has no statistics.
inline void check_rows_at_once(const std::string& where, bool looks_across_rows, const std::string& key,
                               std::int64_t rows) {
  check_input(
      !looks_across_rows || rows > 1,
      "{}: {} = {}: batch normalisation takes statistics over the rows that are computed at once: set "
      "it to 2 or more",
      where, key, rows);
}

}  // namespace rondo

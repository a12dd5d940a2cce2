// Errors: what Rondo throws, and the functions that throw it; tensor/check_system.h has one more. Every
// folder may include these two headers, and tensor/keys.h. There is no logging and no exit: the library
// throws, and a program decides what to print and return.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace rondo {

/// Something went wrong while running. `lm` prints the text on one line and returns 1.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The user's input cannot be used: a file, a flag, a setting. `lm` prints the text on one line and
/// returns 2.
class InputError : public Error {
 public:
  using Error::Error;
};

namespace detail {
/// Out of line, so that a check costs its caller a comparison and a call that is rarely made.
template <class Kind>
[[noreturn]] __attribute__((cold, noinline)) void raise(fmt::string_view text, fmt::format_args arguments) {
  throw Kind(fmt::vformat(text, arguments));
}
}  // namespace detail

/// Throws Error unless `ok`. Text: "[operator] what was expected: the actual shapes", and the remedy when
/// known.
template <class... Arguments>
void check(bool ok, fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  if (!ok) detail::raise<Error>(text, fmt::make_format_args(arguments...));
}

/// Throws InputError unless `ok`. Text: what is wrong, where, and what to do.
template <class... Arguments>
void check_input(bool ok, fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  if (!ok) detail::raise<InputError>(text, fmt::make_format_args(arguments...));
}

/// Throws InputError about an optional library: what needs it, and the Debian packages with which it is
/// built.
[[noreturn]] inline void throw_built_without(const std::string& library, const std::string& needs,
                                             const std::string& packages) {
  throw InputError(
      fmt::format("{} needs {}, which this program was built without: make WITH=\"{}\" installs the packages "
                  "and builds it "
                  "again",
                  needs, library, packages));
}

}  // namespace rondo

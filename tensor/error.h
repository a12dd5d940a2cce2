// Errors: what Rondo throws, and the functions that throw it. Every folder may include this header and
// tensor/keys.h. There is no logging and no exit: the library throws, and a program decides what to print and
// return.
#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

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
/// Out of line: a check that passes costs its caller one comparison.
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
                  "and builds it again",
                  needs, library, packages));
}

/// Thrown when the loss or the gradients became NaN or infinite.
struct Diverged : Error {
  using Error::Error;
};

/// Throws Kind, "TEXT: REASON", unless `ok`, the success of a system call. Throws Error instead if the system
/// had no file descriptors or no memory left, which is not the input's fault. The reason is read from errno
/// here, after the call; as an argument of check() it might be read before the call. Pass arguments that need
/// no computation (path.native(), not path.string()): another call may change errno.
template <class Kind = Error, class... Arguments>
void check_system(bool ok, fmt::format_string<const Arguments&...> text, const Arguments&... arguments) {
  const int reason = errno;
  if (ok) return;
  const std::string line =
      fmt::format("{}: {}", fmt::vformat(text, fmt::make_format_args(arguments...)), std::strerror(reason));
  if (reason == EMFILE || reason == ENFILE || reason == ENOMEM) throw Error(line);
  throw Kind(line);
}

}  // namespace rondo

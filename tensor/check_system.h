// A check of the results of system calls. Separate from tensor/error.h, because few files need it.
#pragma once

#include <cerrno>
#include <cstring>

#include "tensor/error.h"

namespace rondo {

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

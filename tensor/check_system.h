// A check of what the operating system answers. Beside tensor/error.h, since few files need it.
#pragma once

#include <cerrno>
#include <cstring>

#include "tensor/error.h"

namespace rondo {

/// Throws Kind, "TEXT: REASON", unless `ok`, which says whether a system call went well; Error where the
/// system had no more files to open or no memory, of which no input is guilty. The reason is read
/// from errno here, where the call is over: among the arguments of check() it might be read before. Give as
/// arguments what is at hand (path.native(), not path.string()): a further call may change errno.
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

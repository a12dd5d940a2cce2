// The version: RONDO_VERSION and RONDO_COMMIT come from CMakeLists.txt.
#include "tensor/version.h"

namespace rondo {

std::string version() {
  const std::string commit = RONDO_COMMIT;
  return commit.empty() ? RONDO_VERSION : RONDO_VERSION "+" + commit;
}

}  // namespace rondo

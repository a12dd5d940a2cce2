// Paths as they are recorded and shown.
#include "lm/program/paths.h"

namespace rondo {

namespace fs = std::filesystem;

fs::path absolute_path(const fs::path& path) { return fs::absolute(path).lexically_normal(); }

std::string last_name(const fs::path& path) {
  return (absolute_path(path) / "").parent_path().filename().string();
}

}  // namespace rondo

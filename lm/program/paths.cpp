// Paths as they are recorded and shown.
#include "lm/program/paths.h"

namespace rondo {

namespace fs = std::filesystem;

fs::path absolute_path(const fs::path& path) { return fs::absolute(path).lexically_normal(); }

std::string last_name(const fs::path& path) {
  return (absolute_path(path) / "").parent_path().filename().string();
}

std::string file_to_read(const std::string& given) { return given == "-" ? "/dev/stdin" : given; }

}  // namespace rondo

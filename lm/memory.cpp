// Memory before it is asked for.
#include "lm/memory.h"

#include <fmt/format.h>

#include <fstream>

namespace rondo {

std::optional<int64_t> available_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string name; file >> name;) {
    int64_t kibibytes = 0;
    if (name == "MemAvailable:" && file >> kibibytes) return kibibytes * 1024;
    std::getline(file, name);
  }
  return std::nullopt;
}

std::string bytes_text(int64_t bytes) {
  const double mebibytes = static_cast<double>(bytes) / (1 << 20);
  return mebibytes < 1024 ? fmt::format("{:.3g} MiB", mebibytes)
                          : fmt::format("{:.1f} GiB", mebibytes / 1024);
}

}  // namespace rondo

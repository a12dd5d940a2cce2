// How much memory is available: see available_memory.h.
#include "tensor/available_memory.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "cuda/products.h"
#include "cuda/runtime.h"

namespace rondo {
namespace {

/// The number after a name at the beginning of a line; none if there is no such line.
std::optional<int64_t> number_of(const char* path, const std::string& wanted) {
  std::ifstream file(path);
  for (std::string name; file >> name;) {
    int64_t number = 0;
    if (name == wanted && file >> number) return number;
    std::getline(file, name);
  }
  return std::nullopt;
}

/// The number at the beginning of a file; none if the file is absent or begins with a word, such as "max".
std::optional<int64_t> number_in(const char* path) {
  std::ifstream file(path);
  int64_t number = 0;
  if (file >> number) return number;
  return std::nullopt;
}

/// Bytes that the container (cgroup v2) still allows its processes; cached file pages count as free. None
/// without a limit.
std::optional<int64_t> left_in_container() {
  const auto most = number_in("/sys/fs/cgroup/memory.max"),
             current = number_in("/sys/fs/cgroup/memory.current");
  if (!most || !current) return std::nullopt;
  const char* details = "/sys/fs/cgroup/memory.stat";
  return *most - *current + number_of(details, "inactive_file").value_or(0) +
         number_of(details, "active_file").value_or(0);
}

/// Addresses that the program takes for itself while it works: for its files, and because memory comes in
/// large pieces.
constexpr int64_t addresses_beside_tensors = 16 << 20;

}  // namespace

std::optional<int64_t> left_of_address_space() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  const auto pages = number_in("/proc/self/statm");
  if (!pages) return std::nullopt;
  return static_cast<int64_t>(limit.rlim_cur) - *pages * sysconf(_SC_PAGESIZE);
}

std::optional<int64_t> available_memory() {
  std::optional<int64_t> least;
  if (const auto kibibytes = number_of("/proc/meminfo", "MemAvailable:")) least = *kibibytes * 1024;
  std::optional<int64_t> addresses = left_of_address_space();
  if (addresses) *addresses -= addresses_beside_tensors;
  for (const auto& limit : {left_in_container(), addresses})
    if (limit) least = std::max<int64_t>(0, std::min(least.value_or(*limit), *limit));
  return least;
}

std::optional<int64_t> available_memory(Device device) {
  if (!is_gpu(device)) return available_memory();
  return std::max<int64_t>(0, static_cast<int64_t>(cuda::memory().free) - cuda::workspace_bytes);
}

std::string bytes_text(int64_t bytes) {
  const double mebibytes = static_cast<double>(bytes) / (1 << 20);
  return mebibytes < 1024 ? fmt::format("{:.3g} MiB", mebibytes)
                          : fmt::format("{:.1f} GiB", mebibytes / 1024);
}

}  // namespace rondo

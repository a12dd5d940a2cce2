// Where the time of a computation goes: see profile.h.
#include "tensor/profile.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

namespace rondo {
namespace {

bool measuring = false;
std::mutex mutex;
std::map<std::pair<std::string, std::string>, ProfileEntry> entries;

}  // namespace

void set_profiling(bool on) {
  const std::lock_guard lock(mutex);
  measuring = on;
  if (on) entries.clear();
}

bool profiling() { return measuring; }

std::vector<ProfileEntry> profile() {
  const std::lock_guard lock(mutex);
  std::vector<ProfileEntry> result;
  for (const auto& [key, entry] : entries) result.push_back(entry);
  std::ranges::stable_sort(result, std::greater(), &ProfileEntry::seconds);
  return result;
}

void Timed::begin(const char* kind, std::string name, double operations) {
  entry_ = {kind, std::move(name), 1, 0, operations};
  start_ = Clock::now();
}

void Timed::end() {
  const double seconds = seconds_since(start_);
  const std::lock_guard lock(mutex);
  ProfileEntry& total = entries[{entry_.kind, entry_.name}];
  total.kind = entry_.kind;
  total.name = entry_.name;
  total.calls += entry_.calls;
  total.seconds += seconds;
  total.operations += entry_.operations;
}

}  // namespace rondo

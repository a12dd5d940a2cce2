// Where the time of a computation goes: by kind of work, and within a kind by operator or shape. Off until
// switched on; then the time of each timed section is added under its name. It measures from the calling
// thread, which waits for all work on the CPU, but not for a GPU. For `make bench`.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace rondo {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct ProfileEntry {
  std::string kind;  // "gemm", "pointwise", "softmax", "optimizer"
  std::string name;
  int64_t calls = 0;
  double seconds = 0;
  double operations = 0;  // floating-point operations, if they are counted
};

/// Switches measuring on, starting from zero, or off.
void set_profiling(bool on);
bool profiling();
/// What was measured since it was switched on, longest time first.
std::vector<ProfileEntry> profile();

/// Adds its lifetime to an entry. Costs one comparison while measuring is off.
class Timed {
 public:
  /// `name()` returns the entry's name; it is called only while measuring.
  template <class Name>
  Timed(const char* kind, Name name, double operations = 0) : on_(profiling()) {
    if (on_) begin(kind, name(), operations);
  }
  ~Timed() {
    if (on_) end();
  }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  void begin(const char* kind, std::string name, double operations);
  void end();

  bool on_;
  ProfileEntry entry_;
  Clock::time_point start_;
};

}  // namespace rondo

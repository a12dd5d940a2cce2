// What a launch reads and writes. It is noted while a graph is recorded whose launches wait only for those
// that they need (GraphOrder in cuda/runtime.h), by who makes a kernel's operands: Tensor::read_operand() and
// write_operand(), data() and mutable_data(), Indices::on(). Memory that no launch of a graph writes, such as
// the staged block, need not be noted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace rondo::cuda {

/// The addresses [begin, end).
struct Access {
  std::uintptr_t begin, end;
  bool writes;

  bool conflicts(const Access& other) const {
    return (writes || other.writes) && begin < other.end && other.begin < end;
  }
};

/// While such a graph is recorded, the accesses of the next launch, which takes all of them. If there are
/// none, it may access anything.
inline bool notes_accesses = false;
inline std::vector<Access> noted_accesses;

inline void note_access(const void* first, std::size_t bytes, bool writes) {
  if (!notes_accesses || first == nullptr) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(first);
  noted_accesses.push_back({begin, begin + bytes, writes});
}

/// For a launch that is made while the operands of another one are: while this exists, it does not take what
/// was noted for that one.
class LaunchBetween {
 public:
  LaunchBetween() = default;
  ~LaunchBetween() { noted_accesses = std::move(kept_); }
  LaunchBetween(const LaunchBetween&) = delete;
  LaunchBetween& operator=(const LaunchBetween&) = delete;

 private:
  std::vector<Access> kept_ = std::exchange(noted_accesses, {});
};

}  // namespace rondo::cuda

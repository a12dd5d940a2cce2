// How much memory `new` hands out in this thread (and malloc, under the address sanitizer), for the programs
// that contain allocations.cpp.
#pragma once

#include <cstddef>

namespace rondo::fuzz {

/// Counts from its making on.
class Allocations {
 public:
  Allocations();
  /// The most that was held at once, beyond what was held at the beginning.
  size_t peak() const;

 private:
  ptrdiff_t before_;
};

}  // namespace rondo::fuzz

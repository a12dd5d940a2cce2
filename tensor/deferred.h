// A number that a kernel may know only when it runs. On a GPU a training step is recorded once and replayed
// as a graph: what changes from step to step must then be read from an address that the graph contains
// (lm/training/gpu_step.h).
#pragma once

#include "tensor/backend.h"

namespace rondo {

template <class T>
struct Deferred {
  T value{};
  const T* at = nullptr;  // on the kernel's device; null: use `value`

  constexpr Deferred() = default;
  constexpr Deferred(T known) : value(known) {}
  static constexpr Deferred found_at(const T* place) {
    Deferred it;
    it.at = place;
    return it;
  }
  /// Call in a kernel, when it runs.
  HD T now() const { return at ? *at : value; }
};

}  // namespace rondo

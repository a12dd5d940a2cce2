// A number of a kernel that may be known only when the kernel runs. On a GPU a training step is launched
// once, recorded, and replayed as a graph: whatever changes from step to step must then be read where the
// graph finds it (lm/training/gpu_step.h).
#pragma once

#include "tensor/backend.h"

namespace rondo {

template <class T>
struct Deferred {
  T value{};
  const T* at = nullptr;  // on the kernel's device; null: it is `value`

  constexpr Deferred() = default;
  constexpr Deferred(T known) : value(known) {}
  static constexpr Deferred found_at(const T* place) {
    Deferred it;
    it.at = place;
    return it;
  }
  /// In a kernel, when it runs.
  HD T now() const { return at ? *at : value; }
};

}  // namespace rondo

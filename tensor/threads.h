// The threads that share the work of loops and products. A caller starts work on all of them and waits until
// it is done. A thread that is late, because other programs keep its core busy, loses its part to the others,
// and a waiting thread soon sleeps. Next: tensor/kernels/launch.h, tensor/products/packed_gemm.cpp.
#pragma once

#include <cstdint>

namespace rondo {

/// The processors that the process may use: taskset and containers allow it some of the machine's.
int processors();

/// The number of threads that share work, including the caller; Error unless 1 to max_threads. The default
/// is OMP_NUM_THREADS, if that is a number, as in other numeric programs, else processors(). Not to be called
/// in a loop's body.
constexpr int max_threads = 4096;
void set_threads(int count);
int threads();

namespace detail {
void run_on_team(void (*run)(const void* task, int part, int parts), const void* task);
}

/// body(i) for each i below `count`: in order on the caller's thread or, if `worth_it`, in as many ranges as
/// there are threads. A loop within a loop, or at the same time as another thread's, runs on its caller
/// alone. A body must not throw.
template <class Body>
void parallel_for(int64_t count, bool worth_it, const Body& body) {
  const auto range = [&](int part, int parts) {
    for (int64_t i = count * part / parts; i < count * (part + 1) / parts; ++i) body(i);
  };
  if (!worth_it || count <= 1) return range(0, 1);
  using Range = decltype(range);
  detail::run_on_team(
      [](const void* it, int part, int parts) { (*static_cast<const Range*>(it))(part, parts); }, &range);
}

}  // namespace rondo

// The buffers of OpenBLAS: see blas_memory.h.
#include "tensor/products/blas_memory.h"

#include <cblas.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <mutex>
#include <string>
#include <vector>

#include "tensor/allocator.h"
#include "tensor/error.h"

// Of OpenBLAS: takes a buffer, and returns it; OpenBLAS keeps returned buffers for the next request.
extern "C" void* blas_memory_alloc(int where);
extern "C" void blas_memory_free(void* buffer);

namespace rondo {
namespace {

/// The size in OpenBLAS for x86-64, observed by strace.
constexpr int64_t buffer_bytes = 128 << 20;

/// Empty if this many buffers fit, else the reason why not.
std::string why_not(int buffers) {
  const auto left = left_of_address_space();
  const int64_t wanted = buffers * buffer_bytes;
  if (!left || *left >= wanted) return "";
  return fmt::format("the limit on memory (ulimit -v) leaves {}; matrix products need {}, {} for each thread",
                     bytes_text(std::max<int64_t>(0, *left)), bytes_text(wanted), bytes_text(buffer_bytes));
}

}  // namespace

void begin_blas_on_one_thread() {
  if (const std::string why = why_not(1); !why.empty()) {
    std::fputs(fmt::format("{}: {}: raise it\n", program_invocation_short_name, why).c_str(), stderr);
    _exit(1);
  }
  const int threads = omp_get_max_threads();
  openblas_set_num_threads(1);
  omp_set_num_threads(threads);  // for the program's own loops
}

void take_blas_buffers(int threads) {
  static std::atomic<int> taken = 0;
  if (taken >= threads) return;
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  if (taken >= threads) return;
  if (left_of_address_space()) {
    const std::string why = why_not(threads - taken);
    check(why.empty(), "[gemm] {}: raise it, or use fewer threads", why);
    std::vector<void*> buffers;  // hold all at once: a returned buffer would be handed out again
    for (int i = 0; i < threads; ++i) buffers.push_back(blas_memory_alloc(0));
    for (void* buffer : buffers) blas_memory_free(buffer);
  }
  taken = threads;
}

}  // namespace rondo

// OpenBLAS: see blas.h.
#include "tensor/products/blas.h"

#include <cblas.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include "tensor/allocator.h"
#include "tensor/error.h"
#include "tensor/products/cpu_features.h"

// Of libgomp, which OpenBLAS depends on; clang has no omp.h for it.
extern "C" int omp_get_max_threads();
extern "C" void omp_set_num_threads(int count);
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

/// Limits OpenBLAS, before it initialises, to one buffer. If not even one fits, ends the process with a line
/// on stderr and status 1.
void begin_blas_on_one_thread() {
  if (const std::string why = why_not(1); !why.empty()) {
    std::fputs(fmt::format("{}: {}: raise it\n", program_invocation_short_name, why).c_str(), stderr);
    _exit(1);
  }
  const int threads = omp_get_max_threads();
  openblas_set_num_threads(1);
  omp_set_num_threads(threads);  // for the program's own loops
}

/// OpenBLAS before 0.3.24 does not know recent Intel CPUs and falls back to SSE3 kernels, five times slower
/// (OpenBLAS #4267). It chooses when it initialises. A value set by the user takes precedence.
void choose_blas_kernel() {
#if defined(__x86_64__)
  if (cpu_has_avx512())
    setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
  else if (cpu_has_avx2())
    setenv("OPENBLAS_CORETYPE", "Haswell", 0);
#endif
}

/// Priority 101 runs before OpenBLAS's own constructor, which is why it is linked statically.
__attribute__((constructor(101))) void prepare_blas() {
  choose_blas_kernel();
  begin_blas_on_one_thread();
}

/// While it exists, OpenBLAS computes on the calling thread: OpenMP's threads wait in a way that is slow on a
/// busy machine (tensor/threads.cpp). It restores the number of threads that the program has set for its own
/// loops.
class OneBlasThread {
 public:
  OneBlasThread() { omp_set_num_threads(1); }
  ~OneBlasThread() { omp_set_num_threads(before_); }
  OneBlasThread(const OneBlasThread&) = delete;
  OneBlasThread& operator=(const OneBlasThread&) = delete;

 private:
  const int before_ = omp_get_max_threads();
};

CBLAS_TRANSPOSE blas(Transpose transpose) { return transpose == Transpose::yes ? CblasTrans : CblasNoTrans; }

#ifdef RONDO_DOUBLE
constexpr auto gemm_of_blas = cblas_dgemm;
#else
constexpr auto gemm_of_blas = cblas_sgemm;
#endif

}  // namespace

bool has_blas() { return true; }

void blas_product(int64_t m, int64_t n, int64_t k, const BlasMatrix<const real>& a,
                  const BlasMatrix<const real>& b, bool add, const BlasMatrix<real>& c) {
  const OneBlasThread one;
  gemm_of_blas(CblasRowMajor, blas(a.transpose), blas(b.transpose), static_cast<int>(m), static_cast<int>(n),
               static_cast<int>(k), 1, a.data, static_cast<int>(a.stride), b.data, static_cast<int>(b.stride),
               add ? 1 : 0, c.data, static_cast<int>(c.stride));
}

std::string blas_kernel() { return openblas_get_corename(); }

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

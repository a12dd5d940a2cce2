// The memory of OpenBLAS. It reserves a buffer for each of its threads before main(), and one for each thread
// that computes a product; if the system refuses, it retries for ever. So OpenBLAS starts with one thread,
// and where the address space is limited (ulimit -v) we reserve its buffers while they fit, or report an
// error.
#pragma once

// Of libgomp, which OpenBLAS depends on; clang has no omp.h for it.
extern "C" int omp_get_max_threads();
extern "C" void omp_set_num_threads(int count);

namespace rondo {

/// Call before OpenBLAS initialises: limits it to one buffer. If not even one fits, ends the process with a
/// line on stderr and status 1.
void begin_blas_on_one_thread();

/// Call before this many threads compute products; free if called before. Throws Error if their buffers do
/// not fit.
void take_blas_buffers(int threads);

}  // namespace rondo

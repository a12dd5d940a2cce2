// The memory of OpenBLAS. It takes a buffer of addresses for each of its threads before main(), and one for
// each thread that computes a product; where the system refuses one it asks again for ever. So it is asked to
// begin on one thread, and where addresses are limited (ulimit -v) its buffers are taken while they fit, or
// not at all.
#pragma once

namespace rondo {

/// Before OpenBLAS initialises: lets it take one buffer only. Ends the process, with a line on stderr and
/// status 1, where not even that fits.
void begin_blas_on_one_thread();

/// Before as many threads compute products; costs nothing when that was done before. Error where their
/// buffers do not fit.
void take_blas_buffers(int threads);

}  // namespace rondo

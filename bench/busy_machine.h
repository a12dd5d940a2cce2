// What a training on all threads is worth on a machine that others use as well.
#pragma once

namespace rondo {

/// Prints the speed of one thread and of `threads`, in turns of so many seconds, beside no, one and two
/// processes that each keep a processor busy.
void print_busy_machine(int threads, int rounds, double seconds);

}  // namespace rondo

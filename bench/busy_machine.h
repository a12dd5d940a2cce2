// The speed of a training on all threads on a machine that other processes use as well.
#pragma once

namespace rondo {

/// Prints the speed of one thread and of `threads`, in turns of `seconds`, beside zero, one and two processes
/// that each keep a processor busy.
void print_busy_machine(int threads, int rounds, double seconds);

}  // namespace rondo

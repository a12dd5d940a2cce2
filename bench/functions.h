// The functions of the gates.
#pragma once

namespace rondo {

/// Prints the cost of exp, tanh and sigmoid: nanoseconds per element, one thread, numbers in the L1 cache.
void print_functions();

}  // namespace rondo

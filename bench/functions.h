// The functions of the gates.
#pragma once

namespace rondo {

/// Prints what exp, tanh and sigmoid cost: nanoseconds an element, one thread, numbers in the first cache.
void print_functions();

}  // namespace rondo

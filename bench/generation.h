// Generation of one sequence: each symbol reads all weights once, so that memory is the limit.
// Next: lm/decoding/sampling.h.
#pragma once

namespace rondo {

/// Prints, for AWD-LSTM at full size in fp32 and in bf16, symbols per second and the bytes of weights that
/// are read in a second, beside what the memory gives to a loop that only reads: by threads() threads, in
/// `rounds` turns of so many seconds.
void print_generation(int rounds, double seconds);

}  // namespace rondo

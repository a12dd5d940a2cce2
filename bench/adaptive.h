// The adaptive softmax beside the full one, at the vocabulary of WikiText-103. Next:
// nn/output/adaptive_softmax.h.
#pragma once

namespace rondo {

/// Prints, for each output, the time of the output layer alone (loss and gradients) and of a whole training
/// step, and how many times as fast the adaptive one is: by threads() threads, in `rounds` turns of at least
/// so many seconds.
void print_adaptive(int rounds, double seconds);

}  // namespace rondo

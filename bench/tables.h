// The tables of `make bench` that are of lm alone, in one process.
#pragma once

namespace rondo {

/// The peak of the machine's multiply-add instructions in each precision; and exp, tanh and sigmoid:
/// nanoseconds per element, one thread, numbers in the L1 cache.
void print_peaks(int threads);

/// GFLOP/s of a step's product with a recurrent weight, forward and backward, per width and number of rows:
/// with the packed weight, and by cblas_sgemm, with the weight as it is or transposed, whichever is faster.
void print_products();

/// The adaptive softmax beside the full one, at the vocabulary of WikiText-103: the time of the output layer
/// alone (loss and gradients) and of a whole training step, in turns of at least so many seconds.
void print_adaptive(int rounds, double seconds);

/// Generation of one sequence, for which each symbol reads all weights once, so that memory is the limit:
/// symbols per second of AWD-LSTM at full size in fp32 and in bf16, and the bytes of weights that are read in
/// a second, beside what the memory gives to a loop that only reads.
void print_generation(int rounds, double seconds);

}  // namespace rondo

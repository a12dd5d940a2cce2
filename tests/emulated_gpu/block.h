// A kernel's blocks on the emulated GPU.
#pragma once

#include "tests/emulated_gpu/cuda_runtime.h"

namespace rondo::emulated_gpu {

/// Runs thread() for every thread of every block, in one order and, the next time, in the reverse.
void run_grid(dim3 grid, dim3 block_size, const Work& thread);
/// The same where blocks wait for each other. From barrier to barrier, a block is chosen at random, and its
/// threads run in a random order; the seed is that of "perturb=".
void run_grid_together(dim3 grid, dim3 block_size, std::size_t shared_bytes, const Work& thread);
constexpr std::size_t most_shared_bytes = std::size_t{227} << 10;  // of a block

}  // namespace rondo::emulated_gpu

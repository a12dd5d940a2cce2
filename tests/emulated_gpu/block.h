// A kernel's blocks on the emulated GPU.
#pragma once

#include "tests/emulated_gpu/cuda_runtime.h"

namespace rondo::emulated_gpu {

/// Runs thread() for every thread of every block, in one order and, the next time, in the reverse.
void run_grid(dim3 grid, dim3 block_size, const Work& thread);

}  // namespace rondo::emulated_gpu

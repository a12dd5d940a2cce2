// What the sources of the emulated GPU share: its queue, its settings, how its numbers are perturbed.
#pragma once

#include <cstdint>

#include "tests/emulated_gpu/cuda_runtime.h"

namespace rondo::emulated_gpu {

/// What was asked of the GPU is run when somebody waits for it. In a graph of branches it must have noted
/// its accesses to the memory of these arguments: emulated_gpu.h.
cudaError_t enqueue(Work work, Arguments arguments = {});
/// The same on a stream beside that of all other work: run as late as CUDA may run it, when somebody waits
/// for an event that was recorded behind it, or for its stream. It must wait for all that was asked before.
cudaError_t enqueue_beside(cudaStream_t stream, Work work);
/// Counts a kernel or a product that begins, and fails where RONDO_EMULATED_GPU says so.
void count_launch();
void count_unaligned(int64_t matrices);
void count_ragged(int64_t factors);
/// What follows `name` in RONDO_EMULATED_GPU; null if it does not occur there.
const char* setting(const char* name);
/// What no GPU could be asked: ends the program.
[[noreturn]] void misuse(const char* what, const char* kernel = "");

/// Runs thread() for every thread of every block, in one order and, the next time, in the reverse.
void run_grid(dim3 grid, dim3 block_size, const Work& thread);

/// The seed of "perturb=SEED"; 0: nothing is perturbed.
uint64_t perturbation();
/// Random bits of a number and the seed.
uint64_t scattered(uint64_t number);

}  // namespace rondo::emulated_gpu

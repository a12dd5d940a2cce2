// A GPU for machines that have none: the CUDA pass and cuda/runtime.cu, compiled by g++ against the headers
// of this folder, run on the host as they would on a GPU, only slowly. So that a mistake shows here and not
// there: work is queued and runs when somebody waits for it; memory of the GPU can be touched by kernels
// alone, and by anything else is a segmentation fault, as is what was freed; what cudaMalloc gives is full of
// NaN; threads of a warp run in turns from one exchange of values to the next, and warps from one
// __syncthreads() to the next, in one order and the reverse by turns. The launches of a graph run in any
// order that its edges allow, another each time. Of a graph of branches (GraphOrder in cuda/runtime.h), the
// process ends if a launch accesses memory as it did not note: if its arguments contain an address in memory
// that a launch of the graph has noted to write, and it has not noted to access that itself; if it changes
// what it has noted to read, or what lies behind it. It cannot show what only real threads do, nor any speed.
// The environment variable RONDO_EMULATED_GPU sets up another GPU, by one or several of the following,
// separated by commas.
//
//   perturb=SEED     numbers differ from the host's as a real GPU's may: products by a factor of
//                    1 +- 2^-22, the results of exp, log, log1p and tanh by up to two units in the
//                    last place, always the same for one seed, which is not 0
//   gpus=N           as many GPUs in the machine, for as many processes
//   full_at=WORK     no more memory once so much work was asked for
//   memory=BYTES, capability=7.5, absent, old_driver, fails_at=LAUNCH     a GPU that is not as it should be
#pragma once

#include <cstdint>

namespace rondo::emulated_gpu {

struct Counts {
  int64_t launches = 0;   // of kernels and products, replayed ones included
  int64_t unaligned = 0;  // matrices of products, those with a row that begins at no multiple of 16 bytes
  int64_t ragged = 0;  // factors of products, those whose rows are more than 16 bytes and no multiple of it
  int64_t graph_launches = 0;
  int64_t longest_chain = 0;  // of the last graph that was recorded: the most launches one behind the other
  int64_t unnoted = 0;        // of its launches, those of which nothing was noted
  /// All work: launches, copies, marks, graphs; while a graph is recorded, what it consists of.
  int64_t queued = 0;
  int64_t waits = 0;  // of the host, for downloads too
  int64_t uploads = 0;
  int64_t system_allocations = 0;
};
const Counts& counts();

/// From now on there is no more memory than what is allocated now, or again as much as RONDO_EMULATED_GPU
/// says.
void limit_memory(bool yes);

}  // namespace rondo::emulated_gpu

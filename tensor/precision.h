// How floats are multiplied in matrix products: as they are, or rounded. The one place that decides, for all
// devices, and on the CPU by which instructions. Next: tensor/packed_gemm.h, tensor/tile_kernels.h.
#pragma once

#include <string>
#include <vector>

#include "cuda/runtime.h"
#include "tensor/tile_kernels.h"

namespace rondo {

using cuda::Precision;  // fp32, tf32 or bf16
/// Of all later products, on all devices; fp32 before the first call. A CPU computes tf32 in fp32, and the
/// library in double always in double.
void set_precision(Precision precision);
Precision precision();

/// How the packed product of the CPU computes.
struct Multiplication {
  const TileKernels* kernels;
  bool rounded;  // to bfloat16; always, if kernels->word is a pair
  bool operator==(const Multiplication&) const = default;
};
/// In the precision that is set.
const Multiplication& multiplication();
/// All that this CPU can do for bf16. They give the same bits: numbers below 2^-126 count as 0, in operands
/// and in sums, everywhere, as the instruction has it.
std::vector<Multiplication> multiplications_of_bf16();
/// Until the next set_precision(): for tests and benchmarks.
void multiply_by(const Multiplication& wanted);

/// What set_precision(Precision::bf16) chooses.
const Multiplication& fastest_multiplication_of_bf16();
/// How many times as fast as in fp32 its kernels are on this CPU, without the packing: measured once, in a
/// millisecond. 1 where no instruction helps.
double speedup_of_bf16();
/// Operations per second of one thread in tiles of full size whose operands are in the L1 cache.
double speed_of_tiles(const TileKernels& kernels);

/// As "AVX-512 BF16", or "AVX2, rounded to bf16".
std::string name_of(const Multiplication& it);

}  // namespace rondo

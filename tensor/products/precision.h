// How floats are multiplied in matrix products: as they are, or rounded. The one place that decides, for all
// devices, and on the CPU by which instructions. Next: tensor/products/packed_gemm.h,
// tensor/products/tile_kernels.h.
#pragma once

#include <string>
#include <vector>

#include "cuda/precision.h"
#include "tensor/products/tile_kernels.h"

namespace rondo {

using cuda::Precision;  // fp32, tf32, bf16 or int8
/// Sets the precision of all later products, on all devices; it is fp32 before the first call. Do not call it
/// while other threads compute products. A CPU computes tf32 in fp32, and the library in double always in
/// double.
void set_precision(Precision precision);
Precision precision();

/// While it exists, products are in this precision.
class WithPrecision {
 public:
  explicit WithPrecision(Precision wanted) : before_(precision()) { set_precision(wanted); }
  ~WithPrecision() { set_precision(before_); }
  WithPrecision(const WithPrecision&) = delete;
  WithPrecision& operator=(const WithPrecision&) = delete;

 private:
  const Precision before_;
};

/// How the packed product of the CPU computes.
struct Multiplication {
  const TileKernels* kernels;
  bool rounded;  // to bfloat16; always, if kernels->word is a pair
  bool operator==(const Multiplication&) const = default;
};
/// The one in use now.
Multiplication multiplication();
/// That of products with weights, x W^T: of quads in int8, else the same.
Multiplication multiplication_of_weights();
/// All ways in which this CPU multiplies int8, the fastest first. All give the same integers. The library in
/// double and that for inference alone have none.
std::vector<Multiplication> multiplications_of_int8();
/// The fastest for fp32 on this CPU.
Multiplication multiplication_of_fp32();
/// All ways in which this CPU multiplies bf16. On x86-64 with FMA all but AMX give the same bits: numbers of
/// a magnitude below 2^-126 count as 0, in operands and in sums, as the instructions do. AMX, which adds in
/// another order, and other CPUs give the same to float rounding. The first call asks the system for AMX, for
/// all threads of the process, even those that run already.
std::vector<Multiplication> multiplications_of_bf16();
/// For tests; the next set_precision() ends it.
void multiply_by(const Multiplication& wanted);

/// What set_precision(Precision::bf16) chooses: the fastest instruction of bf16 if the CPU has one that pays,
/// else floats that are rounded.
struct FastestBf16 {
  Multiplication multiplication;
  double speedup;  // of the kernels relative to fp32, without the packing; 1 where no instruction pays
};
/// Measured once, in a millisecond.
const FastestBf16& fastest_bf16();

/// Kernels that make pairs by an instruction; null if this CPU has none.
const PairKernels* pair_kernels();

/// "AVX-512 BF16", or "AVX2, rounded to bf16".
std::string name_of(const Multiplication& it);

}  // namespace rondo

// How floats are multiplied in matrix products.
#pragma once

namespace rondo::cuda {

/// Exact, or with operands rounded to 10 (TF32) or 7 (bfloat16) bits of mantissa; sums and memory stay float.
/// Only GPUs have TF32, whose tensor cores read floats; a pass before the product rounds operands to bfloat16
/// (tensor/products/gemm.cpp).
enum class Precision { fp32, tf32, bf16 };

}  // namespace rondo::cuda

// How floats are multiplied in matrix products.
#pragma once

namespace rondo::cuda {

/// As they are, or with their operands rounded to 10 (TF32) or 7 (bfloat16) bits of mantissa; sums and memory
/// stay float. Only GPUs have TF32, whose tensor cores read floats; to bfloat16 a pass before the product
/// rounds them (tensor/products/gemm.cpp).
enum class Precision { fp32, tf32, bf16 };

}  // namespace rondo::cuda

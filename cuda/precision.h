// How floats are multiplied in matrix products.
#pragma once

namespace rondo::cuda {

/// Exact, or with operands rounded to 10 (TF32) or 7 (bfloat16) bits of mantissa; sums and memory stay float.
/// Only GPUs have TF32, whose tensor cores read floats; a pass before the product rounds operands to bfloat16
/// (tensor/products/gemm.cpp). int8 is for use and not for training, on a CPU: products with weights, x W^T,
/// of rows of both rounded to int8 (tensor/products/int8.h); others, and all on a GPU, are exact.
enum class Precision { fp32, tf32, bf16, int8 };

}  // namespace rondo::cuda

// How floats are multiplied in matrix products.
#pragma once

namespace rondo::cuda {

/// As they are, or with their operands rounded to 10 (TF32) or 7 (bfloat16) bits of mantissa; sums and memory
/// stay float. Only GPUs have TF32.
enum class Precision { fp32, tf32, bf16 };

}  // namespace rondo::cuda

// What kernels on the emulated GPU call instead of the functions of <cmath>, as RONDO_MATH
// (tensor/simd/scalar.h): the same functions, or, after RONDO_EMULATED_GPU="perturb=SEED", results up to two
// units in the last place away, as those of CUDA may be. Square roots and quotients are rounded correctly on
// both.
#pragma once

#include <algorithm>
#include <cmath>

namespace rondo::emulated_gpu::math {

/// x, or a number near to it that depends on x and the seed alone; 0, infinities and NaN remain.
float perturbed(float x);

inline float exp(float x) { return x == 0 ? 1 : perturbed(std::exp(x)); }
inline float log(float x) { return perturbed(std::log(x)); }
inline float log1p(float x) { return perturbed(std::log1p(x)); }
inline float tanh(float x) { return std::clamp(perturbed(std::tanh(x)), -1.f, 1.f); }

}  // namespace rondo::emulated_gpu::math

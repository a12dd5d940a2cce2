// Perturbed results of functions: see functions.h. Of products: cublas_lt.cpp.
#include <bit>
#include <cmath>
#include <cstdlib>

#include "tests/emulated_gpu/functions.h"
#include "tests/emulated_gpu/queue.h"

namespace rondo::emulated_gpu {

uint64_t perturbation() {
  static const uint64_t seed = [] {
    const char* given = setting("perturb=");
    return given ? std::strtoull(given, nullptr, 10) : 0;
  }();
  return seed;
}

uint64_t scattered(uint64_t number) {
  uint64_t x = number + perturbation() * 0x9e3779b97f4a7c15;  // splitmix64
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

float math::perturbed(float x) {
  if (perturbation() == 0 || x == 0 || !std::isfinite(x)) return x;
  const auto bits = std::bit_cast<uint32_t>(x);
  const auto steps = static_cast<int32_t>(scattered(bits) % 5) - 2;  // -2 to 2
  const auto near = std::bit_cast<float>(bits + static_cast<uint32_t>(steps));
  return std::isfinite(near) && std::signbit(near) == std::signbit(x) ? near : x;
}

}  // namespace rondo::emulated_gpu

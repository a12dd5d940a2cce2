// Random words on the CPU, several at once: what PhiloxBlockOf<Word> of tensor/random.h takes as a Word.
#pragma once

#include <cstdint>

#include "tensor/random.h"

namespace rondo::cpu {
namespace {

/// Sixteen words, processed together: the compiler turns each loop into one SIMD instruction.
struct Words {
  static constexpr int size = 16;

  Words() = default;
  explicit Words(uint32_t x) {
    for (uint32_t& lane : lanes) lane = x;
  }
  template <class F>
  HD static Words each(F f) {
    Words result;
    for (int i = 0; i < size; ++i) result.lanes[i] = f(i);
    return result;
  }
  HD friend Words operator^(const Words& a, const Words& b) {
    return each([&](int i) { return a.lanes[i] ^ b.lanes[i]; });
  }
  HD friend Words operator^(const Words& a, uint32_t b) {
    return each([&](int i) { return a.lanes[i] ^ b; });
  }
  HD friend Words operator*(const Words& a, uint32_t b) {
    return each([&](int i) { return a.lanes[i] * b; });
  }
  HD friend Words high_product(const Words& a, uint32_t b) {
    return each([&](int i) { return rondo::high_product(a.lanes[i], b); });
  }

  alignas(64) uint32_t lanes[size];
};

}  // namespace
}  // namespace rondo::cpu

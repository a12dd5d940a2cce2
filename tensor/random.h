// Random numbers as a function of a key and an index, not a stream: Philox 4x32-10 (Salmon et al. 2011).
// The same key and index give the same number on the CPU, on CUDA and with any number of threads.
// There is no state: a new draw needs a new key.
#pragma once

#include <cstdint>
#include <string_view>

#include "tensor/backend.h"

namespace rondo {

/// Four words of random bits.
struct PhiloxBlock {
  uint32_t word[4];
};

/// The upper 32 bits of a product.
HD uint32_t high_product(uint32_t a, uint32_t b) {
  return static_cast<uint32_t>(static_cast<uint64_t>(a) * b >> 32);
}

/// Ten rounds of Philox 4x32 on a 128-bit counter with a 64-bit key.
HD PhiloxBlock philox(PhiloxBlock counter, uint32_t key0, uint32_t key1) {
  constexpr uint32_t factor0 = 0xD2511F53u, factor1 = 0xCD9E8D57u;
  for (int round = 0; round < 10; ++round) {
    counter = {high_product(counter.word[2], factor1) ^ counter.word[1] ^ key0, counter.word[2] * factor1,
               high_product(counter.word[0], factor0) ^ counter.word[3] ^ key1, counter.word[0] * factor0};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}

/// Identifies one family of random numbers: seed, drawing module, draw within the update, update.
struct RandomKey {
  uint64_t seed = 0;
  uint32_t name = 0;  // hash of the drawing module's full name
  uint32_t draw = 0;
  Deferred<uint64_t> update{};

  /// The key at the time when a launch runs.
  HD RandomKey now() const {
    RandomKey key = *this;
    key.update = update.now();
    return key;
  }

  /// The words 4 * block .. 4 * block + 3, at the cost of one.
  HD PhiloxBlock block(uint64_t block) const {
    // No two fields share bits while index < 2^50 and update < 2^48; the name is mixed into the
    // seed, which is the same for a whole run.
    const uint32_t low = static_cast<uint32_t>(block), high = static_cast<uint32_t>(block >> 32);
    const PhiloxBlock counter{{low, high ^ static_cast<uint32_t>(update.value >> 32) << 16,
                               static_cast<uint32_t>(update.value), draw}};
    return philox(counter, static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32) ^ name);
  }
  /// Word `index` of the family, uniform over 32 bits.
  HD uint32_t bits(uint64_t index) const { return block(index >> 2).word[index & 3]; }
};

/// A number in (0, 1) from 32 random bits.
HD double uniform_from(uint32_t bits) { return (bits + 0.5) / 4294967296.0; }
/// A number with mean 0 and standard deviation 1 from two times 32 random bits (Box-Muller).
double normal_from(uint32_t bits, uint32_t more_bits);

/// FNV-1a, for names of modules.
constexpr uint32_t hash_of(std::string_view name) {
  uint32_t hash = 2166136261u;
  for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

class Tensor;
/// Uniform in (low, high), and normal with mean 0 (Box-Muller); element i of the tensor is number i of the
/// family.
void fill_uniform(const Tensor& to, RandomKey key, real low, real high);
void fill_normal(const Tensor& to, RandomKey key, real standard_deviation);

/// Which rows of the whole batch a mask tensor holds. Its rows are [steps, batch]; a micro-batch has only the
/// streams [first, first + batch) of `whole` and must draw what the whole batch would draw. If `whole` is 0,
/// all steps have the mask of the first.
struct BatchSlice {
  int64_t batch = 1;
  int64_t first = 0;
  int64_t whole = 1;
};
/// The probability that an element is dropped. Throws Error unless it is from 0 to below 1.
class DropRate {
 public:
  DropRate(double probability);  // implicit on purpose
  operator double() const { return probability_; }

 private:
  double probability_;
};
/// Each element is 0 with the given probability, else 1 / (1 - probability). The comparison uses integers, so
/// that CPU and CUDA agree bit for bit. Throws Error for a slice of no stream.
void fill_dropout_mask(const Tensor& to, RandomKey key, DropRate probability, BatchSlice slice);
/// to = x times that mask, which is not stored; adds it to `to` if `add`. Both have as many rows and
/// columns.
void drop(const Tensor& x, RandomKey key, DropRate probability, BatchSlice slice, bool add, const Tensor& to);

}  // namespace rondo

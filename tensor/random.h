// Random numbers as a function of a key and an index, not a stream: Philox 4x32-10 (Salmon et al. 2011).
// The same key and index give the same number on the CPU, on CUDA and with any number of threads.
// It deliberately keeps no state: who needs a new draw names a new key.
#pragma once

#include <cstdint>
#include <string_view>

#include "tensor/backend.h"

namespace rondo {

struct PhiloxBlock {
  uint32_t word[4];
};

/// Ten rounds of Philox 4x32 of a 128-bit counter under a 64-bit key.
HD PhiloxBlock philox(PhiloxBlock counter, uint32_t key0, uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = uint64_t{0xD2511F53u} * counter.word[0];
    const uint64_t product1 = uint64_t{0xCD9E8D57u} * counter.word[2];
    counter = {
        {static_cast<uint32_t>(product1 >> 32) ^ counter.word[1] ^ key0, static_cast<uint32_t>(product1),
         static_cast<uint32_t>(product0 >> 32) ^ counter.word[3] ^ key1, static_cast<uint32_t>(product0)}};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}

/// Names one family of random numbers: (seed, who draws, which update, which draw within the update).
struct RandomKey {
  uint64_t seed = 0;
  uint32_t name = 0;  // hash of the drawing module's full name
  uint32_t draw = 0;
  uint64_t update = 0;

  /// The four words 4 * block .. 4 * block + 3 at the cost of one.
  HD PhiloxBlock block(uint64_t block) const {
    // No two fields share bits while index < 2^50 and update < 2^48; the name joins the seed, of which a run
    // has one.
    const PhiloxBlock counter{{static_cast<uint32_t>(block),
                               static_cast<uint32_t>(block >> 32) ^ static_cast<uint32_t>(update >> 32) << 16,
                               static_cast<uint32_t>(update), draw}};
    return philox(counter, static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32) ^ name);
  }
  /// Word `index` of the family, uniform over 32 bits.
  HD uint32_t bits(uint64_t index) const { return block(index >> 2).word[index & 3]; }
};

/// A number in (0, 1) from 32 random bits.
HD double uniform_from(uint32_t bits) { return (bits + 0.5) / 4294967296.0; }

/// FNV-1a, for names of modules.
constexpr uint32_t hash_of(std::string_view name) {
  uint32_t hash = 2166136261u;
  for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

class Tensor;
/// Uniform in (low, high), and normal with mean 0 (Box-Muller); element i of the tensor is number i of the
/// key.
void fill_uniform(const Tensor& to, RandomKey key, real low, real high);
void fill_normal(const Tensor& to, RandomKey key, real standard_deviation);

/// Which rows of the whole batch a tensor of masks holds. Rows are [steps, batch]; a micro-batch has only the
/// streams [first, first + batch) of `whole` and must draw what the whole batch would.
struct BatchSlice {
  int64_t batch = 1;
  int64_t first = 0;
  int64_t whole = 1;
};
/// Each element is 0 with the given probability and else 1 / (1 - probability). Compares integers, so that
/// CPU and CUDA agree bit for bit. Throws Error unless 0 <= probability < 1.
void fill_dropout_mask(const Tensor& to, RandomKey key, double probability, BatchSlice slice);

}  // namespace rondo

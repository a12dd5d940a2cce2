// Philox against its authors' test vectors, keys that do not collide, distributions, and dropout masks.
#include "tensor/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tensor/kernels/kernels.h"
#include "tensor/tensor.h"
#include "tensor/threads.h"
#include "tests/tensor/errors.h"

namespace rondo {
namespace {

void expect_philox(PhiloxBlock counter, uint32_t key0, uint32_t key1, PhiloxBlock expected) {
  const PhiloxBlock actual = philox(counter, key0, key1);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(actual.word[i], expected.word[i]) << "word " << i;
}

// kat_vectors of Random123, philox4x32 10.
TEST(Philox, GivesTheKnownAnswers) {
  expect_philox({{0, 0, 0, 0}}, 0, 0, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}});
  expect_philox({{~0u, ~0u, ~0u, ~0u}}, ~0u, ~0u, {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}});
  expect_philox({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822, 0x299f31d0,
                {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}});
}

TEST(RandomKey, KeysThatDifferInAnythingGiveOtherNumbers) {
  // 64 bits of each stream at a few indices: two equal entries would be one stream met twice.
  std::set<std::pair<uint32_t, uint32_t>> seen;
  int64_t entries = 0;
  for (uint64_t seed : {0ull, 1ull, 2ull, 0x10000ull, 0xffffffffull})
    for (uint32_t name : {0u, 1u, 2u, 0x10000u, hash_of("rnn.dropout."), hash_of("input_dropout.")})
      for (uint32_t draw : {0u, 1u, 2u, 0xffffu, 0x10000u, 0x10001u, 0x20000u})
        for (uint64_t update : {0ull, 1ull, 2ull, 0x10000ull, 0x7fffffffull, 0x100000000ull, 0x100010000ull})
          for (uint64_t index : {0ull, 4ull, 8ull, 0x40000ull, 1ull << 34, 2ull << 34, 1ull << 49}) {
            const PhiloxBlock block = RandomKey{seed, name, draw, update}.block(index / 4);
            seen.insert({block.word[0], block.word[1]});
            ++entries;
          }
  EXPECT_EQ(static_cast<int64_t>(seen.size()), entries);
}

TEST(Random, NamesHash) {
  EXPECT_EQ(hash_of(""), 0x811c9dc5u);  // FNV-1a's published values
  EXPECT_EQ(hash_of("a"), 0xe40c292cu);
  EXPECT_EQ(hash_of("foobar"), 0xbf9cf968u);
}

TEST(Random, UniformAndNormalHaveTheirMoments) {
  const Tensor x({200, 500});
  const double n = static_cast<double>(x.size());
  fill_uniform(x, {.seed = 1}, -2, 4);
  for (real value : x.to_vector()) ASSERT_TRUE(-2 <= value && value <= 4);
  EXPECT_NEAR(sum(x) / n, 1, 0.03);
  EXPECT_NEAR(sum_of_squares(x) / n - 1, 3, 0.05);  // variance 36 / 12
  fill_normal(x, {.seed = 2}, real(0.5));
  EXPECT_NEAR(sum(x) / n, 0, 0.01);
  EXPECT_NEAR(sum_of_squares(x) / n, 0.25, 0.005);
  int64_t beyond = 0;
  for (real value : x.to_vector()) beyond += std::abs(value) > 1;
  EXPECT_NEAR(beyond / n, 0.0455, 0.004);  // two deviations
  EXPECT_GT(uniform_from(0), 0);
  EXPECT_LT(uniform_from(~0u), 1);
}

Tensor mask(Shape shape, RandomKey key, double probability, BatchSlice slice) {
  const Tensor to(shape);
  fill_dropout_mask(to, key, probability, slice);
  return to;
}

TEST(DropoutMask, ElementsAreTheWordsOfTheirIndices) {
  const RandomKey key{.seed = 1, .name = 2, .draw = 3, .update = 4};
  for (const int64_t columns : {7, 203})
    for (const double probability : {0.0, 0.25, 0.5, 0.9}) {
      const Tensor m = mask({3, columns}, key, probability, {.batch = 3, .whole = 3});
      for (int64_t i = 0; i < m.size(); ++i) {
        const bool dropped = key.bits(static_cast<uint64_t>(i)) < probability * 4294967296.0;
        ASSERT_EQ(m.data()[i], dropped ? 0 : static_cast<real>(1 / (1 - probability))) << i;
      }
    }
  // Row 1 crosses index 2^34, where the lower word of the block's number overflows.
  const std::vector<real> m =
      mask({2, 131}, key, 0.25, {.batch = 1, .first = 0, .whole = 131144039})[1].to_vector();
  for (size_t j = 0; j < m.size(); ++j)
    ASSERT_EQ(m[j] == 0, key.bits(uint64_t{131} * 131144039 + j) < 0x40000000u) << j;
}

TEST(DropoutMask, DoesNotDependOnThreads) {
  const int before = threads();
  std::vector<std::vector<real>> masks;
  for (int count : {1, 2, 3}) {
    set_threads(count);
    masks.push_back(mask({100, 301}, {.seed = 6}, 0.4, {20, 0, 20}).to_vector());
  }
  set_threads(before);
  EXPECT_EQ(masks[0], masks[1]);
  EXPECT_EQ(masks[0], masks[2]);
}

TEST(DropoutMask, RefusesWhatIsNoProbability) {
  const auto refusal = [](double it) { return any_error_of([it] { mask({4}, {}, it, {}); }); };
  EXPECT_EQ(refusal(1), "[dropout] the probability is in [0, 1), got 1");
  EXPECT_EQ(refusal(-0.1), "[dropout] the probability is in [0, 1), got -0.1");
  EXPECT_EQ(refusal(NAN), "[dropout] the probability is in [0, 1), got nan");
}

// Element i is the quantile of word i: back to the probability by the error function of the C library.
TEST(AddNormal, IsTheQuantileOfEachWord) {
  const RandomKey key{.seed = 5, .name = 6, .draw = 7, .update = 8};
  const Tensor x = Tensor::filled({3, 10001}, 1), to(x.shape());
  launch(Device::cpu, to.extent(), AddNormal{key, 2, x.read_operand(), to.write_operand()});
  for (int64_t i = 0; i < to.size(); ++i) {
    const double noise = (to.data()[i] - 1.0) / 2;
    EXPECT_NEAR(std::erf(noise / std::sqrt(2)), 2 * uniform_from(key.bits(i)) - 1, 2e-6) << i;
  }
}

}  // namespace
}  // namespace rondo

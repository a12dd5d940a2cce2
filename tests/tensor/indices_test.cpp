// Indices and their order by value, which gradients of embeddings are added in.
#include "tensor/indices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

namespace rondo {
namespace {

TEST(Indices, AreSortedByValueAndThenByPosition) {
  std::mt19937 random(3);
  constexpr int32_t largest = std::numeric_limits<int32_t>::max();
  for (const auto& [low, high] :
       {std::pair<int32_t, int32_t>{0, 9}, {-1, 10000}, {5, 5}, {-largest, largest}})
    for (const size_t count : {0, 1, 2, 35, 5600}) {
      std::vector<int32_t> values(count);
      for (int32_t& value : values) value = std::uniform_int_distribution<int32_t>(low, high)(random);
      std::vector<int32_t> expected(count);
      std::iota(expected.begin(), expected.end(), 0);
      std::ranges::stable_sort(expected,
                               [&](int32_t a, int32_t b) { return values[size_t(a)] < values[size_t(b)]; });
      std::vector<int32_t> layout(Indices::layout_size(count));
      Indices::to_device_layout(values, layout.data());
      const SortedRows sorted = Indices::sorted(layout.data(), count);
      EXPECT_EQ(std::vector<int32_t>(sorted.order, sorted.order + count), expected) << low << " " << count;
      EXPECT_EQ(std::vector<int32_t>(sorted.rows, sorted.rows + count), values);
      size_t segment = 0;
      for (size_t i = 0; i < count; ++i) {
        const bool begins = i == 0 || values[size_t(expected[i])] != values[size_t(expected[i - 1])];
        if (begins) {
          EXPECT_EQ(sorted.starts[segment++], static_cast<int32_t>(i));
        }
      }
      for (; segment <= count; ++segment) EXPECT_EQ(sorted.starts[segment], static_cast<int32_t>(count));
    }
}

}  // namespace
}  // namespace rondo

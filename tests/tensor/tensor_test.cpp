// Tensors: views, strides, plain arithmetic, and the texts of errors.
#include "tensor/tensor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <tuple>

#include "tensor/products/gemm.h"
#include "tensor/threads.h"
#include "tests/tensor/errors.h"

namespace rondo {
namespace {

using Numbers = std::vector<real>;

/// 0, 1, 2, ...
Tensor counting(Shape shape) {
  Numbers values(shape.size());
  std::iota(values.begin(), values.end(), real(0));
  return Tensor::from(values, shape);
}

TEST(Shape, RowsAndColumns) {
  const Shape shape{2, 3, 4};
  EXPECT_EQ(shape.rows(), 6);
  EXPECT_EQ(shape.columns(), 4);
  EXPECT_EQ(shape.size(), 24);
  EXPECT_EQ(shape.to_string(), "[2, 3, 4]");
  EXPECT_EQ(Shape{}.size(), 1);
  EXPECT_EQ((Shape{5}).rows(), 1);
  EXPECT_EQ(shape.with_first(7), (Shape{7, 3, 4}));
  EXPECT_EQ(shape.without_first(), (Shape{3, 4}));
  EXPECT_EQ(shape.with_columns(7), (Shape{2, 3, 7}));
  EXPECT_FALSE((Shape{2, 3}) == (Shape{2, 3, 1}));
  EXPECT_EQ(any_error_of([] { Shape{1, 2, 3, 4, 5}; }), "[shape] at most 4 dimensions, got 5");
  EXPECT_EQ(any_error_of([] { Shape{1, -2}; }), "[shape] extents are not negative, got -2");
}

TEST(Tensor, SlicesAndBlocksAreViews) {
  const Tensor x = counting({4, 3, 5});
  const Tensor middle = x.slice(1, 3);
  EXPECT_EQ(middle.shape(), (Shape{2, 3, 5}));
  EXPECT_TRUE(middle.shares_memory(x));
  EXPECT_EQ(middle.data(), x.data() + 15);
  EXPECT_EQ(x[2].shape(), (Shape{3, 5}));
  EXPECT_EQ(x[2][1].to_vector(), (Numbers{35, 36, 37, 38, 39}));
  EXPECT_EQ(x[2][1].slice(1, 3).to_vector(), (Numbers{36, 37}));

  const Tensor block = x.slice_columns(1, 3);
  EXPECT_EQ(block.shape(), (Shape{4, 3, 2}));
  EXPECT_EQ(block.row_stride(), 5);
  EXPECT_FALSE(block.contiguous());
  EXPECT_EQ(block[3].slice_rows(1, 3).to_vector(), (Numbers{51, 52, 56, 57}));
  EXPECT_EQ(block.slice(1, 2)[0][2].to_vector(), (Numbers{26, 27}));
  EXPECT_EQ(block.slice_columns(1, 2).slice_rows(0, 2).to_vector(), (Numbers{2, 7}));
  EXPECT_EQ(x.slice_rows(3, 4).parent_view({2, x.columns()}, 1).to_vector(), x.slice_rows(2, 4).to_vector());

  fill(block, -1);
  EXPECT_EQ(x[0][0].to_vector(), (Numbers{0, -1, -1, 3, 4}));
  EXPECT_EQ(x.slice(2, 2).size(), 0);
}

TEST(Tensor, Reshapes) {
  const Tensor x = counting({2, 3, 4});
  EXPECT_EQ(x.reshaped({6, 4})[4].to_vector(), (Numbers{16, 17, 18, 19}));
  EXPECT_EQ(x.reshaped({3, 8})[2].to_vector(), (Numbers{16, 17, 18, 19, 20, 21, 22, 23}));
  EXPECT_TRUE(x.reshaped({24}).shares_memory(x));
  const Tensor block = x.slice_columns(1, 3);
  EXPECT_EQ(block.reshaped({6, 2})[5].to_vector(), (Numbers{21, 22}));
  EXPECT_EQ(block[1].slice_rows(2, 3).reshaped({2, 1}).to_vector(), (Numbers{21, 22}));
  EXPECT_EQ(any_error_of([&] { (void)block.reshaped({12}); }),
            "[reshape] [2, 3, 2] with rows 4 apart cannot become [12]; copy it first");
}

TEST(Tensor, RowsForProductsDoNotClash) {
  constexpr int64_t apart = 2048 / sizeof(real);
  EXPECT_TRUE(rows_clash(9, apart));
  EXPECT_TRUE(rows_clash(9, 3 * apart));
  EXPECT_FALSE(rows_clash(8, apart));
  EXPECT_FALSE(rows_clash(9, apart + 1));
  EXPECT_FALSE(rows_clash(9, 0));
  const Tensor x = Tensor::for_products({3, 4, 2 * apart}, Device::cpu);
  EXPECT_EQ(x.shape(), (Shape{3, 4, 2 * apart}));
  EXPECT_FALSE(rows_clash(x.rows(), x.row_stride()));
  EXPECT_TRUE(Tensor::for_products({12, apart + 1}, Device::cpu).contiguous());
}

TEST(Tensor, ErrorsSayWhatWasExpected) {
  const Tensor x = counting({4, 3}), v = counting({12}), two({2, 3}), turned({3, 4}), undefined;
  const Indices beyond{4, 0}, below{-1, 0};
  const Numbers three{1, 2, 3};
  const std::string of_undefined =
      "[tensor] an undefined tensor has no memory: give it a value, as by Tensor::zeros()";
  const auto too_large = [](int extent, const std::string& value) {
    return fmt::format(
        "[shape] a tensor of more than 288230376151711744 numbers fits into no memory: make extent {}, which "
        "is {}, or another one smaller",
        extent, value);
  };
  const auto strided = [&](int64_t begin, int64_t row_stride) {
    (void)v.as_strided(begin, two.shape(), row_stride);
  };
  const auto outside = [](int64_t begin, int64_t row_stride) {
    return fmt::format("[as_strided] [2, 3] from {} on, rows {} apart, does not lie within [12]", begin,
                       row_stride);
  };
  const std::vector<std::pair<std::function<void()>, std::string>> errors = {
      // 2^61 times 4, and 2^40 times 2^40, are 0 in 64 bits.
      {[] {
         Shape({int64_t{1} << 61, 4});
       },
       too_large(0, "2305843009213693952")},
      {[] {
         Shape({int64_t{1} << 40, int64_t{1} << 40});
       },
       too_large(1, "1099511627776")},
      {[] {
         Shape({0, int64_t{1} << 40, int64_t{1} << 40});
       },
       too_large(2, "1099511627776")},
      {[&] { (void)x.shape().with_columns(int64_t{1} << 57); }, too_large(1, "144115188075855872")},
      {[&] { (void)x.shape().with_leading(int64_t{1} << 57); }, too_large(1, "4")},
      {[&] { (void)x.shape().with_first(-1); }, "[shape] extents are not negative, got -1"},
      {[&] { (void)x.shape()[2]; }, "[shape] a shape of 2 dimensions has no extent 2"},
      {[&] { strided(0, -3); }, outside(0, -3)},
      {[&] { strided(0, 2); }, outside(0, 2)},
      {[&] { strided(-1, 3); }, outside(-1, 3)},
      {[&] { strided(4, 5); }, outside(4, 5)},
      {[&] { strided(std::numeric_limits<int64_t>::max(), 3); },
       outside(std::numeric_limits<int64_t>::max(), 3)},
      {[&] { strided(0, int64_t{1} << 58); }, too_large(1, "288230376151711744")},
      {[&] { (void)undefined.data(); }, of_undefined},
      {[&] { (void)undefined.device(); }, of_undefined},
      {[&] { (void)undefined.item(); }, of_undefined},
      {[&] { (void)undefined.version(); }, of_undefined},
      {[&] { fill(undefined, 1); }, of_undefined},
      {[&] { gather_rows(x, beyond, two); }, "[gather_rows] row 4 at 0 is not in [-1, 4)"},
      {[&] { gather_rows(x, {0}, two); }, "[gather_rows] 1 rows of [4, 3] do not fit [2, 3]"},
      {[&] { accumulate_rows(two, below, x); }, "[accumulate_rows] row -1 at 0 is not in [0, 4)"},
      {[&] { (void)x.slice(2, 5); }, "[slice] [2, 5) does not lie within [4, 3]"},
      {[&] { (void)x.slice(-1, 2); }, "[slice] [-1, 2) does not lie within [4, 3]"},
      {[&] { (void)x[4]; }, "[slice] [4, 5) does not lie within [4, 3]"},
      {[&] { (void)x[0][0]; }, "[index] needs two dimensions or more, got [3]"},
      {[&] { (void)x.slice_columns(1, 4); },
       "[slice_columns] [1, 4) does not lie within the columns of [4, 3]"},
      {[&] { (void)x.slice_rows(3, 2); }, "[slice_rows] [3, 2) does not lie within the 4 rows of [4, 3]"},
      {[&] { (void)x.parent_view(x.shape().with_first(5)); },
       "[parent_view] [5, 3] leaves the memory around [4, 3]"},
      {[&] { (void)x.parent_view(x.shape().with_columns(4)); },
       "[parent_view] [4, 4] leaves the memory around [4, 3]"},
      {[&] { (void)x.reshaped(x.shape().with_first(5)); }, "[reshape] [4, 3] elements do not fill [5, 3]"},
      {[&] { (void)x.item(); }, "[item] needs exactly one element, got [4, 3]"},
      {[&] { Tensor::from(three, {2}); }, "[tensor] 3 values do not fill [2]"},
      {[&] { copy(x, turned); }, "[copy] needs equal matrices, got [4, 3] and [3, 4]"},
      {[&] { accumulate(x, turned); }, "[accumulate] needs equal matrices, got [4, 3] and [3, 4]"},
      {[&] { broadcast_rows(Tensor({4}), x); }, "[broadcast_rows] needs a vector [3], got [4]"},
      {[&] { column_sums(x, Tensor({4})); }, "[column_sums] needs a vector [3], got [4]"},
  };
  for (const auto& [act, text] : errors) EXPECT_EQ(any_error_of(act), text);
#ifndef RONDO_CUDA
  EXPECT_EQ(any_error_of([] { Tensor({2}, Device::cuda); }),
            "[cuda] this program was built without CUDA; use --device cpu");
#endif
}

TEST(Tensor, EveryWriteBumpsTheVersionOfTheStorage) {
  const Tensor x = Tensor::zeros({4, 3}), part = x.slice(1, 2);
  const auto bumps = [&](auto write) {
    const uint64_t before = x.version();
    write();
    return x.version() > before;
  };
  EXPECT_TRUE(bumps([&] { fill(part, 1); }));
  EXPECT_TRUE(bumps([&] { copy(Tensor::zeros({1, 3}), part); }));
  EXPECT_TRUE(bumps([&] { accumulate(Tensor::zeros({1, 3}), part); }));
  EXPECT_TRUE(bumps([&] { scale(part, 2); }));
  EXPECT_TRUE(bumps([&] { broadcast_rows(Tensor::zeros({3}), x); }));
  EXPECT_TRUE(bumps([&] { column_sums(Tensor::zeros({2, 3}), part, true); }));
  EXPECT_TRUE(bumps([&] { accumulate_rows(Tensor::zeros({1, 3}), {2}, x); }));
  EXPECT_TRUE(bumps([&] { gather_rows(Tensor::zeros({1, 3}), {0}, part); }));
  EXPECT_TRUE(bumps([&] {
    gemm(Tensor::zeros({4, 2}), Transpose::no, Tensor::zeros({2, 3}), Transpose::no, false, x);
  }));
  EXPECT_FALSE(
      bumps([&] { (void)(clone(x).size() + part.to_vector().size() + static_cast<size_t>(sum(x))); }));
}

/// Sizes around the width of a register, and one above the threshold for threads.
const std::vector<Shape> sizes = {{1, 1}, {3, 7}, {2, 16}, {5, 17}, {4, 33}, {3, 64}, {70, 301}};

TEST(Arithmetic, WorksOnStridedBlocks) {
  for (const Shape& size : sizes) {
    const int64_t R = size[0], C = size[1];
    const Tensor wide = counting({R, C + 5}), x = wide.slice_columns(2, 2 + C);
    const auto at = [&](int64_t r, int64_t c) { return static_cast<real>(r * (C + 5) + c + 2); };
    const Tensor frame = Tensor::filled({R, C + 3}, 1), y = frame.slice_columns(1, 1 + C);
    copy(x, y);
    accumulate(x, y, real(0.5));
    scale(y, 2);
    for (int64_t r = 0; r < R; ++r) {
      for (int64_t c = 0; c < C; ++c) ASSERT_EQ(y.data()[r * (C + 3) + c], 3 * at(r, c)) << size.to_string();
      ASSERT_EQ(frame.data()[r * (C + 3)], 1);
      ASSERT_EQ(frame.data()[r * (C + 3) + C + 1], 1);
      ASSERT_EQ(frame.data()[r * (C + 3) + C + 2], 1);
    }
    const Tensor sums = Tensor::filled({C}, 7), only_sums = Tensor::filled({C}, NAN), vector = counting({C});
    column_sums(x, sums, true);
    column_sums(x, only_sums);
    broadcast_rows(vector, y);
    broadcast_rows(vector, y, true);
    for (int64_t c = 0; c < C; ++c) {
      real expected = 7;
      for (int64_t r = 0; r < R; ++r) expected += at(r, c);
      ASSERT_EQ(sums.data()[c], expected);
      ASSERT_EQ(only_sums.data()[c], expected - 7);
      for (int64_t r = 0; r < R; ++r) ASSERT_EQ(y.data()[r * (C + 3) + c], 2 * c);
    }
    EXPECT_TRUE(contiguous(wide).shares_memory(wide));
    EXPECT_EQ(contiguous(x).to_vector(), x.to_vector());
  }
}

// Of one row to several parts of columns, with and without rows left over.
TEST(Arithmetic, ColumnSumsAddRowsInTheirOrder) {
  constexpr int64_t V = 700;
  for (const int64_t rows : {1, 3, 4, 103, 104}) {
    Numbers values, expected(V, real(0.1));
    for (int64_t i = 0; i < rows * V; ++i) values.push_back(std::sin(static_cast<real>(i)));
    for (int64_t i = 0; i < rows * V; ++i)
      expected[static_cast<size_t>(i % V)] += values[static_cast<size_t>(i)];
    const Tensor sums = Tensor::filled({V}, real(0.1));
    column_sums(Tensor::from(values, {rows, V}), sums, true);
    EXPECT_EQ(sums.to_vector(), expected) << rows;
  }
}

TEST(Arithmetic, ScaleKeepsAllBitsOfASmallFactor) {
  const Tensor x = Tensor::from({3, -5, 1e20f}, {3});
  scale(x, real(1e-9));
  const Numbers expected{real(3) * real(1e-9), real(-5) * real(1e-9), real(1e20f) * real(1e-9)};
  EXPECT_EQ(x.to_vector(), expected);
  const Tensor from = Tensor::from({3, -5, 1e20f}, {3}), to = Tensor::filled({3}, NAN);
  copy_scaled(from, to, Tensor::from({real(1e-9)}, {1}));
  EXPECT_EQ(to.to_vector(), expected);
  EXPECT_EQ(from.to_vector(), (Numbers{3, -5, 1e20f}));
}

TEST(Arithmetic, SumsInDouble) {
  // In float, adding 1 to 2^24 changes nothing.
  const int64_t count = (1 << 24) + 4096 * 3 + 5, twos = count / 4;
  EXPECT_EQ(sum(Tensor::filled({count}, 1)), static_cast<double>(count));
  EXPECT_EQ(sum_of_squares(Tensor::filled({twos}, 2)), static_cast<double>(4 * twos));
  const Tensor x = counting({3, 5});
  EXPECT_EQ(sum(x.slice_columns(1, 3)), 1 + 2 + 6 + 7 + 11 + 12);
  EXPECT_EQ(sum_of_squares(x.slice_columns(1, 2)), 1 + 36 + 121);
  EXPECT_EQ(sum(Tensor({0})), 0);
}

TEST(Arithmetic, GathersAndAddsRowsInOrder) {
  const Tensor table = counting({4, 3});
  const Tensor y({5, 3});
  gather_rows(table, {3, 0, 3, 1, 3}, y);
  EXPECT_EQ(y[2].to_vector(), (Numbers{9, 10, 11}));
  EXPECT_EQ(y[3].to_vector(), (Numbers{3, 4, 5}));
  const Tensor sums = Tensor::zeros({4, 3});
  accumulate_rows(y, {1, 0, 1, 2, 1}, sums);
  EXPECT_EQ(sums.to_vector(), (Numbers{0, 1, 2, 27, 30, 33, 3, 4, 5, 0, 0, 0}));
}

TEST(Arithmetic, FindsWhatIsNotFinite) {
  const Tensor x = Tensor::zeros({3, 40});
  EXPECT_TRUE(all_finite(x));
  x.mutable_data()[77] = std::numeric_limits<real>::infinity();
  EXPECT_FALSE(all_finite(x));
  x.mutable_data()[77] = std::numeric_limits<real>::quiet_NaN();
  EXPECT_FALSE(all_finite(x));
  EXPECT_TRUE(all_finite(x.slice(2, 3)));
}

TEST(Arithmetic, DoesNotDependOnThreads) {
  const int before = threads();
  const Tensor x({700, 131});
  for (int64_t i = 0; i < x.size(); ++i) x.mutable_data()[i] = std::sin(static_cast<real>(i));
  std::vector<int32_t> numbers;
  for (int32_t i = 0; i < 700; ++i) numbers.push_back(i * i % 5);
  const auto sums_by = [&](int count) {
    set_threads(count);
    EXPECT_EQ(threads(), count);
    const Tensor columns = Tensor::zeros({131}), table = Tensor::zeros({5, 131});
    column_sums(x, columns, true);
    accumulate_rows(x, numbers, table);
    return std::tuple{sum_of_squares(x), columns.to_vector(), table.to_vector()};
  };
  EXPECT_EQ(sums_by(2), sums_by(1));
  EXPECT_EQ(sums_by(3), sums_by(1));
  set_threads(before);
}

TEST(Tensor, APartHasAVersionAndHoldersOfItsOwn) {
  Tensor whole = Tensor::zeros({4, 3});
  {
    const Tensor first = whole.slice_rows(0, 2).as_part(), second = whole.slice_rows(2, 4).as_part();
    EXPECT_TRUE(first.shares_memory(second) && first.shares_memory(whole));
    EXPECT_EQ(first.use_count(), 2);  // first, and whole
    const uint64_t version = first.version();
    fill(second, 7);
    EXPECT_EQ(first.version(), version);
    EXPECT_EQ(whole.to_vector(), (std::vector<real>{0, 0, 0, 0, 0, 0, 7, 7, 7, 7, 7, 7}));
    EXPECT_EQ(whole.use_count(), 3);
    whole = {};
    EXPECT_EQ(first.use_count(), 1);
    const Tensor same = second;  // NOLINT: a copy is a user
    EXPECT_EQ(first.use_count(), 1);
    EXPECT_EQ(second.use_count(), 2);
    EXPECT_TRUE(is_at_offset(first, second, 2, 0));
    EXPECT_TRUE(is_at_offset(first.slice_columns(1, 2), second.slice_columns(2, 3), 2, 1));
    whole = stacked_rows({first, second});
    EXPECT_TRUE(whole.shares_memory(first));
    EXPECT_EQ(whole.to_vector(), (std::vector<real>{0, 0, 0, 0, 0, 0, 7, 7, 7, 7, 7, 7}));
    EXPECT_FALSE(stacked_rows({second, first}).shares_memory(first));
  }
  EXPECT_EQ(whole.use_count(), 1);
}

}  // namespace
}  // namespace rondo

// Products on the GPU in each precision, beside sums in double; copies of weights that are kept in bf16.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "autograd/pointwise.h"
#include "tensor/allocator.h"
#include "tensor/products/gemm.h"
#include "tensor/products/precision.h"
#include "tests/cuda/device.h"
#include "tests/tensor/plain_product.h"

namespace rondo {
namespace {

constexpr bool in_float = sizeof(real) == sizeof(float);

struct Factors {
  int64_t m, n, k;
  Transpose transpose_a, transpose_b;
  Tensor a, b;

  Factors(std::array<int64_t, 3> sizes, Transpose of_a, Transpose of_b)
      : m(sizes[0]),
        n(sizes[1]),
        k(sizes[2]),
        transpose_a(of_a),
        transpose_b(of_b),
        a(of_a == Transpose::yes ? Shape{k, m} : Shape{m, k}),
        b(of_b == Transpose::yes ? Shape{n, k} : Shape{k, n}) {
    fill_uniform(a, {.seed = 5, .draw = 0}, -1, 1);
    fill_uniform(b, {.seed = 5, .draw = 1}, -1, 1);
  }
  /// c + a b in double.
  std::vector<double> plain(const Tensor& c) const {
    std::vector<double> sums =
        plain_product(plain_operand(a, transpose_a), plain_operand(b, transpose_b), m, n, k);
    const std::vector<real> start = c.to_vector();
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += start[i];
    return sums;
  }
  Tensor product(const Tensor& start, Device device) const {
    const Tensor c = clone(start.to(device));
    gemm(a.to(device), transpose_a, b.to(device), transpose_b, true, c);
    return c;
  }
};

/// The length of the difference, relative to that of `expected`.
double distance(const std::vector<real>& got, const std::vector<double>& expected) {
  double difference = 0, length = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    difference += (got[i] - expected[i]) * (got[i] - expected[i]);
    length += expected[i] * expected[i];
  }
  return std::sqrt(difference / length);
}

/// Of the distance. Factors of 10 bits are off by up to 2^-11, or 2^-10 if a GPU cuts them off, of 7 bits by
/// up to 2^-8.
const std::map<Precision, double> bounds = {
    {Precision::fp32, 2e-6}, {Precision::tf32, 1e-3}, {Precision::bf16, 1e-2}};

TEST(ProductsOnGpu, AreAsExactAsTheirPrecision) {
  NEED_GPU();
  for (const auto& [precision, bound] : bounds) {
    const WithPrecision in_force(precision);
    for (const auto& sizes :
         {std::array<int64_t, 3>{80, 128, 256}, {1, 64, 600}, {37, 5, 129}, {130, 70, 33}})
      for (const Transpose of_a : {Transpose::no, Transpose::yes})
        for (const Transpose of_b : {Transpose::no, Transpose::yes}) {
          const Factors factors(sizes, of_a, of_b);
          const Tensor start({factors.m, factors.n});
          fill_uniform(start, {.seed = 5, .draw = 2}, -1, 1);
          const std::vector<real> got = factors.product(start, Device::cuda).to_vector();
          EXPECT_LT(distance(got, factors.plain(start)), bound)
              << "precision " << static_cast<int>(precision) << ", " << factors.a.shape().to_string() << ", "
              << factors.b.shape().to_string();
        }
  }
}

// Into columns of a wider tensor, whose others stay; of widths at which the second matrix of a batch begins
// at no multiple of 16 bytes. Not compared with products one by one: cuBLASLt may compute those with other
// kernels, which round in tf32 where it does not.
TEST(ProductsOnGpu, OfABatchAreAsExactAsTheirPrecision) {
  NEED_GPU();
  constexpr int64_t N = 3;
  for (const auto& [precision, bound] : bounds) {
    const WithPrecision in_force(precision);
    for (const auto& sizes : {std::array<int64_t, 3>{4, 8, 16}, {7, 5, 9}, {1, 33, 70}, {1, 7, 31}})
      for (const Transpose of_a : {Transpose::no, Transpose::yes})
        for (const Transpose of_b : {Transpose::no, Transpose::yes})
          for (const bool add : {false, true}) {
            const int64_t m = sizes[0], n = sizes[1];
            Factors each(sizes, of_a, of_b);
            const Tensor a(Shape(each.a.shape()).with_leading(N)), b(Shape(each.b.shape()).with_leading(N)),
                c({N, m, n + 2});
            fill_uniform(a, {.seed = 5, .draw = 0}, -1, 1);
            fill_uniform(b, {.seed = 5, .draw = 1}, -1, 1);
            fill_uniform(c, {.seed = 5, .draw = 2}, -1, 1);
            const Tensor whole = clone(c.to(Device::cuda));
            const auto middle = [&](const Tensor& it) { return it.slice_columns(1, n + 1); };
            batched_gemm(a.to(Device::cuda), of_a, b.to(Device::cuda), of_b, add, middle(whole));
            const Tensor got = whole.to(Device::cpu);
            for (int64_t i = 0; i < N; ++i) {
              each.a = a[i], each.b = b[i];
              const Tensor start = add ? clone(middle(c[i])) : Tensor::zeros({m, n});
              EXPECT_LT(distance(middle(got[i]).to_vector(), each.plain(start)), bound)
                  << "precision " << static_cast<int>(precision) << ", matrix " << i << ", "
                  << each.a.shape().to_string() << ", " << each.b.shape().to_string() << ", added " << add;
              for (const int64_t column : {int64_t{0}, n + 1})
                EXPECT_EQ(got[i].slice_columns(column, column + 1).to_vector(),
                          c[i].slice_columns(column, column + 1).to_vector());
            }
          }
  }
}

TEST(ProductsOnGpu, InBf16AreTheCpus) {
  NEED_GPU();
  const WithPrecision in_force(Precision::bf16);
  for (const Transpose of_a : {Transpose::no, Transpose::yes})
    for (const Transpose of_b : {Transpose::no, Transpose::yes}) {
      const Factors factors({37, 70, 129}, of_a, of_b);
      const Tensor start = Tensor::zeros({37, 70});
      const Tensor got = factors.product(start, Device::cuda);
      expect_same(got, factors.product(start, Device::cpu), "bf16");
      if (in_float) {
        EXPECT_GT(distance(got.to_vector(), factors.plain(start)), 1e-4) << "factors were not rounded";
      }
    }
}

TEST(ProductsOnGpu, InBf16ReadAWeightAgainAfterItWasWritten) {
  NEED_GPU();
  const WithPrecision in_force(Precision::bf16);
  const Factors factors({5, 24, 40}, Transpose::no, Transpose::yes);
  const Tensor x = factors.a.to(Device::cuda), weight = clone(factors.b.to(Device::cuda));
  const auto product = [&] {
    const Tensor c({5, 24}, Device::cuda);
    weight_gemm(x, weight, Transpose::yes, {}, c);
    return c.to_vector();
  };
  const std::vector<real> once = product();
  EXPECT_EQ(product(), once);
  scale(weight.slice_rows(3, 4), 2);
  const std::vector<real> again = product();
  for (size_t i = 0; i < once.size(); ++i) EXPECT_EQ(again[i], i % 24 == 3 ? 2 * once[i] : once[i]) << i;
}

/// A product in bf16 of rows x that may be rounded already: beside the product of a copy of x, which is not.
class ProductOfRows {
 public:
  explicit ProductOfRows(int64_t columns)
      : weight_(Factors({1, 8, columns}, Transpose::no, Transpose::yes).b.to(Device::cuda)) {
    launches(Tensor::zeros({1, columns}, Device::cuda));  // rounds the weight, which keeps it
  }
  /// How many launches it takes.
  int64_t launches(const Tensor& x) const {
    const Tensor c({x.rows(), 8}, Device::cuda), expected({x.rows(), 8}, Device::cuda);
    weight_gemm(clone(x), weight_, Transpose::yes, {}, expected);
    const int64_t before = cuda::launches();
    weight_gemm(x, weight_, Transpose::yes, {}, c);
    const int64_t launches = cuda::launches() - before;
    EXPECT_EQ(c.to_vector(), expected.to_vector());
    return launches;
  }

 private:
  const WithPrecision in_bf16_{Precision::bf16};
  const Tensor weight_;
};
constexpr int64_t multiplied = 1, rounded_too = 2;  // launches

/// Three steps of 4 rows, in memory that was made for products.
struct Steps {
  int64_t width;
  Tensor all;

  explicit Steps(int64_t columns) : width(columns), all(Tensor::for_products({3, 4, columns}, Device::cuda)) {
    const Tensor numbers(all.shape());
    fill_uniform(numbers, {.seed = 7}, -1, 1);
    copy(numbers, all);
  }
  Tensor part(int64_t t) const { return all[t].as_part(); }
};
/// Rows of floats end with pads, or rounded ones alone do, or neither.
constexpr auto widths = {11, 12, 16};

TEST(ProductsOnGpu, InBf16RoundRowsOnceAndAgainAfterTheyWereWritten) {
  NEED_GPU();
  if (!in_float) GTEST_SKIP() << "double is not rounded";
  for (const int width : widths) {
    const ProductOfRows product(width);
    const auto expect_rounded_after = [&](const char* what, auto write, int64_t of_others = multiplied) {
      const Steps steps(width);
      product.launches(steps.all);
      for (int64_t t = 0; t < 3; ++t) EXPECT_EQ(product.launches(steps.part(t)), multiplied) << what;
      write(steps);
      EXPECT_EQ(product.launches(steps.part(1)), rounded_too) << what;
      EXPECT_EQ(product.launches(steps.all[1]), multiplied) << what;
      EXPECT_EQ(product.launches(steps.part(0)), of_others) << what;
      EXPECT_EQ(product.launches(steps.all), of_others) << what;
      EXPECT_EQ(product.launches(steps.all), multiplied) << what;
    };
    expect_rounded_after("a step", [](const Steps& it) { fill(it.all[1], 3); });
    expect_rounded_after("a part", [](const Steps& it) { scale(it.part(1), 3); });
    expect_rounded_after("columns", [](const Steps& it) { fill(it.part(1).slice_columns(2, 4), 3); });
    expect_rounded_after("one row of all", [](const Steps& it) { fill(it.all.slice_rows(6, 7), 3); });
    expect_rounded_after(
        "all", [](const Steps& it) { scale(it.all, 3); }, rounded_too);
    expect_rounded_after("from the host", [](const Steps& it) {
      it.part(1).set(std::vector<real>(static_cast<size_t>(4 * it.width), 3).data());
    });
    expect_rounded_after("by a product", [](const Steps& it) {
      const Tensor left = Tensor::filled({4, 2}, 3, Device::cuda);
      const Tensor right = Tensor::filled({2, it.width}, 3, Device::cuda);
      gemm(left, Transpose::no, right, Transpose::no, true, it.part(1));
    });
  }
}

// Parts that are rounded one by one are whole for the product of all steps, in whatever order.
TEST(ProductsOnGpu, InBf16FindRoundedStepsSideBySide) {
  NEED_GPU();
  if (!in_float) GTEST_SKIP() << "double is not rounded";
  for (const int width : widths) {
    const ProductOfRows product(width);
    for (const auto& order : {std::array<int64_t, 3>{0, 1, 2}, {2, 1, 0}, {0, 2, 1}}) {
      const Steps steps(width);
      for (const int64_t t : order) EXPECT_GE(product.launches(steps.part(t)), rounded_too);
      EXPECT_EQ(product.launches(steps.all), multiplied);
    }
  }
}

// An operator whose result a product reads writes it once more, rounded.
TEST(ProductsOnGpu, InBf16ReadWhatAnOperatorHasRounded) {
  NEED_GPU();
  if (!in_float) GTEST_SKIP() << "double is not rounded";
  for (const int width : widths) {
    const ProductOfRows product(width);
    const Steps steps(width), others(width);
    for (int64_t t = 0; t < 3; ++t) {
      pointwise_into(steps.part(t), Tanh{}, Variable(others.all[t]));
      EXPECT_EQ(product.launches(steps.part(t)), multiplied) << width;
    }
    EXPECT_EQ(product.launches(steps.all), multiplied);
    pointwise_into(steps.part(1), Sigmoid{}, Variable(others.all[1]));
    EXPECT_EQ(product.launches(steps.all), multiplied) << width;
    const WithPrecision plain(Precision::fp32);
    pointwise_into(steps.part(1), Tanh{}, Variable(others.all[2]));
    const WithPrecision rounded(Precision::bf16);
    EXPECT_EQ(product.launches(steps.all), rounded_too) << "an operator rounds for products that do";
  }
}

// What outlives a step is written by recorded graphs, too, and is rounded by each product.
TEST(ProductsOnGpu, InBf16RoundAnewWhatOutlivesAStep) {
  NEED_GPU();
  if (!in_float) GTEST_SKIP() << "double is not rounded";
  const ProductOfRows product(11);
  const Steps before(11);
  product.launches(before.all);
  const StepMemory memory(Device::cuda);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(product.launches(before.all), rounded_too);
  const Tensor of_step = clone(before.all);
  product.launches(of_step);
  EXPECT_EQ(product.launches(of_step), multiplied);
}

void expect_near(const std::vector<real>& got, const std::vector<real>& expected, const char* what) {
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-5) << what << ", " << i;
}

/// A [6, 7] in memory that also holds others' numbers.
struct View {
  const char* name;
  Tensor all, part;
};
/// Of each kind that a tensor offers; the others' numbers are `other`.
std::vector<View> views(real other) {
  const auto filled = [&](Shape shape) { return Tensor::filled(shape, other, Device::cuda); };
  const Tensor whole = filled({6, 7}), steps = filled({3, 6, 7}), wide = filled({6, 9}),
               long_one = filled({9, 7}), third = filled({2, 3, 7}), narrowed = filled({6, 9}),
               vector = filled({6 * 8}), zeros = Tensor::zeros({6 * 8}, Device::cuda);
  return {{"whole", whole, whole},
          {"a step", steps, steps[1].as_part()},
          {"first columns", wide, wide.slice_columns(0, 7)},
          {"last columns", wide, wide.slice_columns(2, 9)},
          {"rows", long_one, long_one.slice_rows(2, 8)},
          {"reshaped", third, third.reshaped({6, 7})},
          {"the parent of columns", narrowed, narrowed.slice_columns(0, 3).parent_view({6, 7})},
          {"the parent of last columns", narrowed, narrowed.slice_columns(2, 5).parent_view({6, 7}, 0, 2)},
          {"strided", vector, vector.as_strided(0, {6, 7}, 8)},
          {"strided over zeros", zeros, zeros.as_strided(0, {6, 7}, 8)}};
}

// Products may read and write the pads behind rows, but nothing else beside a view.
TEST(ProductsOnGpu, OfViewsReadAndWriteOnlyThem) {
  NEED_GPU();
  constexpr real other = 1e6;
  const auto random = [](Shape shape, uint32_t draw) {
    const Tensor x(shape);
    fill_uniform(x, {.seed = 6, .draw = draw}, -1, 1);
    return x;
  };
  const Tensor square = random({6, 6}, 0), left = random({6, 7}, 1), right = random({6, 7}, 2);
  for (size_t kind = 0; kind < views(other).size(); ++kind)
    for (const bool add : {false, true}) {
      const View a = views(other)[kind], b = views(other)[kind], c = views(other)[kind];
      copy(left.to(Device::cuda), a.part);
      copy(right.to(Device::cuda), b.part);
      for (const Transpose of_square : {Transpose::no, Transpose::yes}) {
        copy(left.to(Device::cuda), c.part);
        const std::vector<real> before = c.all.to_vector();
        const Tensor expected = clone(left), narrow({6, 6}), of_gpu({6, 6}, Device::cuda);
        gemm(square, of_square, right, Transpose::no, add, expected);
        gemm(square.to(Device::cuda), of_square, b.part, Transpose::no, add, c.part);
        expect_near(c.part.to_vector(), expected.to_vector(), c.name);
        const std::vector<real> after = c.all.to_vector();
        EXPECT_EQ(std::ranges::count(after, other), std::ranges::count(before, other)) << c.name;
        gemm(left, Transpose::no, right, Transpose::yes, false, narrow);
        gemm(a.part, Transpose::no, b.part, Transpose::yes, false, of_gpu);
        expect_near(of_gpu.to_vector(), narrow.to_vector(), a.name);
      }
    }
  // A part of a row has no pads, and does not decide on those of the row's matrix.
  const Tensor matrix({5, 3}, Device::cuda);
  EXPECT_FALSE(matrix[1].slice(0, 2).has_pads());
  EXPECT_TRUE(matrix.has_pads());
}

}  // namespace
}  // namespace rondo

// Products on the GPU in each precision, beside sums in double; copies of weights that are kept in bf16.
#include <array>
#include <cmath>
#include <map>

#include "tensor/gemm.h"
#include "tensor/precision.h"
#include "tests/cuda/device.h"

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
    const std::vector<real> x = a.to_vector(), y = b.to_vector(), start = c.to_vector();
    std::vector<double> sums(start.begin(), start.end());
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j)
        for (int64_t l = 0; l < k; ++l)
          sums[static_cast<size_t>(i * n + j)] +=
              static_cast<double>(
                  x[static_cast<size_t>(transpose_a == Transpose::yes ? l * m + i : i * k + l)]) *
              static_cast<double>(
                  y[static_cast<size_t>(transpose_b == Transpose::yes ? j * k + l : l * n + j)]);
    return sums;
  }
  Tensor product(const Tensor& start, Device device) const {
    const Tensor c = clone(start.to(device));
    gemm(a.to(device), transpose_a, b.to(device), transpose_b, 1, c);
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

// Factors of 10 bits are off by up to 2^-11, or 2^-10 if a GPU cuts them off, of 7 bits by up to 2^-8.
TEST(ProductsOnGpu, AreAsExactAsTheirPrecision) {
  NEED_GPU();
  const std::map<Precision, double> bounds = {
      {Precision::fp32, 2e-6}, {Precision::tf32, 1e-3}, {Precision::bf16, 1e-2}};
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

TEST(ProductsOnGpu, OfNoTermsAreTheStart) {
  NEED_GPU();
  for (const Precision precision : {Precision::fp32, Precision::bf16}) {
    const WithPrecision in_force(precision);
    const Tensor c = Tensor::filled({3, 5}, 2, Device::cuda);
    gemm(Tensor({3, 0}, Device::cuda), Transpose::no, Tensor({0, 5}, Device::cuda), Transpose::no, 1, c);
    EXPECT_EQ(c.to_vector(), std::vector<real>(15, 2));
  }
}

}  // namespace
}  // namespace rondo

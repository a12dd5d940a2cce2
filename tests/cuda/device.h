// What tests of the GPU begin with: whether there is one, and "the same numbers on both devices".
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "autograd/functions.h"
#include "autograd/operators/arithmetic.h"
#include "autograd/operators/functions.h"
#include "cuda/runtime.h"
#include "tensor/random.h"
#include "tests/autograd/samples.h"

/// Skips the test where there is no GPU: in a build with CUDA on a machine without.
#define NEED_GPU() \
  if (!rondo::cuda::unavailable().empty()) GTEST_SKIP() << rondo::cuda::unavailable()

namespace rondo {

/// How far the devices may be apart, relative to max(1, |a|, |b|). Both add up in an order of their own, and
/// have exp, tanh and log of their own, to a few units in the last place (2^-53, 2^-24 = 6e-8). In float a
/// sum of up to two thousand terms that cancel each other costs two more digits, as batch norm does over few
/// rows: the emulated GPU comes to 1e-5.
constexpr double tolerance = sizeof(real) == 8 ? 1e-10 : 5e-5;

/// EXPECT that the numbers are those of the CPU; infinities and NaN are equal to their own kind.
inline void expect_same(const std::vector<real>& on_gpu, const std::vector<real>& on_cpu,
                        const std::string& what, double apart = tolerance) {
  ASSERT_EQ(on_gpu.size(), on_cpu.size()) << what;
  for (size_t i = 0; i < on_cpu.size(); ++i) {
    const double a = on_gpu[i], b = on_cpu[i];
    const bool same = a == b || (std::isnan(a) && std::isnan(b)) ||
                      std::abs(a - b) <= apart * std::max({1.0, std::abs(a), std::abs(b)});
    ASSERT_TRUE(same) << what << ", element " << i << ": " << a << " on the GPU, " << b << " on the CPU";
  }
}
inline void expect_same(const Tensor& on_gpu, const Tensor& on_cpu, const std::string& what,
                        double apart = tolerance) {
  EXPECT_EQ(on_gpu.device(), Device::cuda) << what;
  EXPECT_EQ(on_gpu.shape(), on_cpu.shape()) << what;
  expect_same(on_gpu.to_vector(), on_cpu.to_vector(), what, apart);
}

/// EXPECT that f has the same value and the same gradient of every input on both devices. The gradients are
/// added to what is there.
inline void expect_same_on_both(const Function& f, const std::vector<Tensor>& inputs) {
  const auto numbers_on = [&](Device device) {
    std::vector<std::vector<real>> numbers;
    std::vector<Tensor> gradients;
    std::vector<Variable> leaves;
    for (const Tensor& input : inputs) {
      gradients.push_back(Tensor::filled(input.shape(), real(0.5), device));
      leaves.push_back(Variable::leaf(input.to(device), gradients.back()));
    }
    Variable loss;
    {  // nothing but the history may hold the value when backward runs
      const Variable y = f(leaves);
      EXPECT_EQ(y.value().device(), device);
      numbers.push_back(y.value().to_vector());
      const Tensor weights(y.shape());
      fill_uniform(weights, {.seed = 5, .name = hash_of("weights of a loss")}, real(-1), real(1));
      loss = sum(y * Variable(weights.to(device)));
    }
    numbers.push_back(loss.value().to_vector());
    loss.backward();
    for (const Tensor& gradient : gradients) numbers.push_back(gradient.to_vector());
    return numbers;
  };
  const auto on_cpu = numbers_on(Device::cpu), on_gpu = numbers_on(Device::cuda);
  for (size_t i = 0; i < on_cpu.size(); ++i) {
    const std::string what = i == 0 ? "the value"
                             : i == 1
                                 ? "its weighted sum"
                                 : fmt::format("the gradient of input {} {}", i - 2, inputs[i - 2].shape());
    expect_same(on_gpu[i], on_cpu[i], what);
  }
}

/// Sizes on both sides of a block of threads, none a multiple of it; and none at all.
inline const std::vector<Shape> awkward_shapes = {{3, 5}, {1, 257}, {300, 1}, {2, 511},
                                                  {1, 1}, {0, 5},   {5, 0}};

}  // namespace rondo

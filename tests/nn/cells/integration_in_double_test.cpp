// Multiplicative integration of k flows, pairwise: Wu et al. 2016, section 2.1.
#include <gtest/gtest.h>

#include "autograd/operators/arithmetic.h"
#include "nn/cells/catalogue.h"
#include "nn/cells/multiplicative_integration.h"
#include "tests/autograd/samples.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

constexpr size_t rows = 3, width = 4;

/// k flows, then an alpha for each pair, a beta for each flow, b.
std::vector<Tensor> flows_and_vectors(int64_t k) {
  std::vector<Shape> shapes(static_cast<size_t>(k), Shape{rows, width});
  shapes.insert(shapes.end(), static_cast<size_t>(k * (k - 1) / 2 + k + 1), Shape{width});
  return samples(shapes);
}
Variable integrated(const std::vector<Variable>& all, int64_t k) {
  const auto alpha = all.begin() + k, beta = alpha + k * (k - 1) / 2;
  return integrate({all.begin(), alpha}, {{alpha, beta}, {beta, beta + k}, all.back()});
}

TEST(IntegrationOfFlows, IsTheSumOverPairsAndFlows) {
  for (int64_t k = 2; k <= 5; ++k) {
    const std::vector<Tensor> tensors = flows_and_vectors(k);
    const std::vector<real> z = integrated({tensors.begin(), tensors.end()}, k).value().to_vector();
    std::vector<std::vector<real>> numbers;
    for (const Tensor& it : tensors) numbers.push_back(it.to_vector());
    for (size_t row = 0; row < rows; ++row)
      for (size_t unit = 0; unit < width; ++unit) {
        double expected = numbers.back()[unit];
        size_t vector = static_cast<size_t>(k);
        for (int64_t j = 1; j < k; ++j)  // the pairs 12, 13, 23, 14, ...
          for (int64_t i = 0; i < j; ++i)
            expected +=
                numbers[vector++][unit] * numbers[i][row * width + unit] * numbers[j][row * width + unit];
        for (int64_t i = 0; i < k; ++i) expected += numbers[vector++][unit] * numbers[i][row * width + unit];
        EXPECT_NEAR(z[row * width + unit], expected, 1e-12) << k;
      }
  }
}

TEST(IntegrationOfFlows, HasRightGradients) {
  for (const int64_t k : {2, 3, 4})
    expect_gradients([&](const std::vector<Variable>& x) { return integrated(x, k); }, flows_and_vectors(k));
}

TEST(IntegrationOfFlows, WithoutAlphasIsTheSum) {
  const std::vector<Tensor> flows = samples({{rows, width}, {rows, width}, {rows, width}});
  const Variable zero(Tensor::zeros({width}, Device::cpu)), one = zero + real(1);
  const std::vector<Variable> f(flows.begin(), flows.end());
  const std::vector<real> z = integrate(f, {{zero, zero, zero}, {one, one, one}, zero}).value().to_vector(),
                          sum = (f[0] + f[1] + f[2]).value().to_vector();
  for (size_t i = 0; i < sum.size(); ++i) EXPECT_NEAR(z[i], sum[i], 1e-12);
}

TEST(IntegrationOfFlows, NeedsAVectorForEachPairAndFlow) {
  const Variable f(Tensor::zeros({rows, width}, Device::cpu)), v(Tensor::zeros({width}, Device::cpu));
  for (const auto& [k, alphas, betas] : {std::tuple(1, 0, 1), {2, 2, 2}, {3, 3, 2}, {3, 2, 3}})
    expect_contains(error_of<Error>([&, k = k, alphas = alphas, betas = betas] {
                      integrate(std::vector<Variable>(k, f),
                                {std::vector<Variable>(alphas, v), std::vector<Variable>(betas, v), v});
                    }),
                    fmt::format("got {} flows, {} alphas, {} betas", k, alphas, betas));
}

TEST(IntegrationOfFlows, OfAContextIsRefusedWhereThereIsNone) {
  CellOptions options = pytorch_cell(3, 2);
  options.context = 1;
  for (const char* cell : {"lstm", "bn_mi_lstm", "mi_rnn_simple", "qrnn"}) {
    Module root;
    EXPECT_NE(error_of([&] { make_cell(cell, root, "", options); }), "") << cell;
  }
  for (const char* cell : {"mi_rnn", "linear_mi_rnn", "mi_lstm", "mi_gru"}) {
    Module root;
    EXPECT_TRUE(make_cell(cell, root, "", options)->reads_context()) << cell;
  }
}

}  // namespace
}  // namespace rondo

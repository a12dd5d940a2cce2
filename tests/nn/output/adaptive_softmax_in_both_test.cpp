// The adaptive softmax: PyTorch's numbers, its distribution, what is ignored, cutoffs, errors, memory. Within
// a model: tests/nn/models/language_model_values_in_double_test.cpp (plain loops),
// language_model_on_gpu_test.cpp beside it.
#include "nn/output/adaptive_softmax.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "autograd/functions.h"
#include "tensor/allocator.h"
#include "tests/golden/models.h"
#include "tests/tensor/errors.h"

namespace rondo {
namespace {

constexpr double tolerance = sizeof(real) == 4 ? 2e-5 : 1e-11;
using Cutoffs = std::vector<int64_t>;

/// The output layer as a model of its own.
struct Output : Module {
  Output(int64_t H, int64_t V, const AdaptiveSoftmaxOptions& options)
      : softmax(*this, "", H, V, options, {}) {
    finalize(1);
  }
  AdaptiveSoftmax softmax;
};

Tensor drawn(Shape shape) {
  const Tensor x(shape);
  fill_uniform(x, {.seed = 3}, -2, 2);
  return x;
}

void check_golden(const std::string& name) {
  const Golden& golden = Golden::file("adaptive_softmax");
  const auto expect_equal = [&](const Tensor& actual, const std::string& part) {
    expect_golden(actual.to_vector(), golden, name + "." + part, tolerance);
  };
  const std::vector<double> cutoffs = golden.values(name + ".cutoffs");
  const Leaf x(tensor_of(golden, name + ".input"));
  Output model(x.gradient.columns(), static_cast<int64_t>(golden.setting(name + ".n_classes")),
               {.cutoffs = {cutoffs.begin(), cutoffs.end()},
                .divisor = static_cast<int64_t>(golden.setting(name + ".div_value"))});
  EXPECT_EQ(model.segments().size(), 1 + 2 * cutoffs.size());
  set_golden(model, golden, name + ".");
  expect_equal(model.softmax.log_probabilities(x.variable).value(), "log_prob");
  const CrossEntropy loss = model.softmax.cross_entropy(x.variable, tokens_of(golden, name + ".targets"));
  const Tensor log_p = clone(loss.each);
  scale(log_p, -1);
  expect_equal(log_p, "output");
  expect_equal(loss.total.value(), "loss");
  loss.total.backward();
  expect_equal(x.gradient, "gradient.input");
  expect_golden_gradients(model, golden, name + ".", tolerance);
}

TEST(AdaptiveSoftmax, EqualsPyTorch) {
  check_golden("quarters");
  check_golden("halves");
}

// Two ways to one distribution: clusters by their rows, and all symbols.
TEST(AdaptiveSoftmax, LossIsThatOfProbabilitiesThatSumToOne) {
  const int64_t N = 9, H = 32, V = 50;
  for (const Cutoffs& cutoffs : {Cutoffs{}, Cutoffs{7}, Cutoffs{1, 3, 5, 48}}) {
    Output model(H, V, {.cutoffs = cutoffs, .divisor = 2});
    std::vector<int32_t> targets;
    for (int32_t r = 0; r < N; ++r) targets.push_back(r * 6);
    const Variable x(drawn({N, H}));
    const std::vector<real> each = model.softmax.cross_entropy(x, tokens(targets)).each.to_vector();
    const Tensor log_p = model.softmax.log_probabilities(x).value();
    for (int64_t r = 0; r < N; ++r) {
      const std::vector<real> row = log_p.slice_rows(r, r + 1).to_vector();
      double sum = 0;
      for (const real it : row) sum += std::exp(static_cast<double>(it));
      EXPECT_NEAR(sum, 1, tolerance);
      EXPECT_NEAR(each[r], -row[targets[r]], tolerance * 10);
    }
  }
}

TEST(AdaptiveSoftmax, IgnoredRowsAndClustersWithoutTargetsChangeNothing) {
  const int64_t H = 8, V = 20;
  Output model(H, V, {.cutoffs = {4, 10}, .divisor = 2});
  const Tensor rows = drawn({3, H});
  for (int64_t j = 0; j < H; ++j) rows.mutable_data()[H + j] = std::numeric_limits<real>::quiet_NaN();
  const Leaf x(rows);
  const CrossEntropy loss = model.softmax.cross_entropy(x.variable, tokens({2, -1, 15}));
  const std::vector<real> each = loss.each.to_vector();
  EXPECT_EQ(each[1], 0);
  EXPECT_NEAR(loss.total.value().item(), each[0] + each[2], 10 * tolerance);
  loss.total.backward();
  for (const real it : x.gradient.slice_rows(1, 2).to_vector()) EXPECT_EQ(it, 0);
  const auto is_zero = [&](const std::string& name) {
    const std::vector<real> gradient = gradient_of(model, name).to_vector();
    return std::ranges::all_of(gradient, [](real it) { return it == 0; });
  };
  for (const char* name : {"tail.0.0.weight", "tail.0.1.weight"}) EXPECT_TRUE(is_zero(name)) << name;
  for (const char* name : {"head.weight", "tail.1.0.weight", "tail.1.1.weight"})
    EXPECT_FALSE(is_zero(name)) << name;

  const std::vector<real> nothing =
      model.softmax.cross_entropy(x.variable, tokens({-1, -1, -1})).each.to_vector();
  EXPECT_EQ(nothing, std::vector<real>(3, 0));
}

TEST(AdaptiveSoftmax, AutomaticCutoffsAreATwentiethAndAQuarter) {
  EXPECT_EQ(automatic_cutoffs(267'735), (Cutoffs{13'386, 66'933}));
  EXPECT_EQ(automatic_cutoffs(33'278), (Cutoffs{1'663, 8'319}));
  EXPECT_EQ(automatic_cutoffs(12), (Cutoffs{1, 3}));
  EXPECT_EQ(automatic_cutoffs(5), (Cutoffs{1, 3}));
  EXPECT_EQ(
      any_error_of([] { automatic_cutoffs(4); }),
      "model.output = \"adaptive\" divides the vocabulary into clusters, and it has only 4 symbols: set "
      "model.output = \"softmax\"");
}

TEST(AdaptiveSoftmax, ErrorsSayWhatWasExpected) {
  const auto error = [](int64_t H, int64_t V, const AdaptiveSoftmaxOptions& options) {
    return any_error_of([&] { Output(H, V, options); });
  };
  const std::string rising =
      ": a cluster from 4 to {} is to have two symbols or more: give numbers that rise "
      "by at least 2";
  EXPECT_EQ(error(64, 20, {.cutoffs = {4, 4}}),
            "model.cutoffs = [4, 4]" + fmt::format(fmt::runtime(rising), 4));
  EXPECT_EQ(error(64, 20, {.cutoffs = {4, 5}}),
            "model.cutoffs = [4, 5]" + fmt::format(fmt::runtime(rising), 5));
  EXPECT_EQ(error(64, 20, {.cutoffs = {4, 2}}),
            "model.cutoffs = [4, 2]" + fmt::format(fmt::runtime(rising), 2));
  for (const int64_t last : {19, 20, 21})
    EXPECT_EQ(
        error(64, 20, {.cutoffs = {4, last}}),
        fmt::format("model.cutoffs = [4, {}]: the last cluster begins at symbol {} and needs two, and "
                    "the vocabulary has 20: leave that one out, or model.cutoffs, which are then chosen",
                    last, last));
  EXPECT_NO_THROW(Output(64, 20, {.cutoffs = {4, 18}}));
  EXPECT_EQ(
      error(15, 20, {}),
      "model.cluster_divisor = 4: of 15 units before the output, 15 / 4^2 leaves none to the vectors of "
      "cluster 2: make it smaller, the layer wider, or give fewer model.cutoffs");
  EXPECT_NE(error(64, 20, {.cutoffs = {0, 4}}), "");
  EXPECT_NE(error(64, 20, {.divisor = 0}), "");

  const Output model(16, 20, {});
  const Variable x(drawn({2, 16}));
  EXPECT_EQ(any_error_of([&] {
              model.softmax.cross_entropy(x, tokens({1, 20}));
            }),
            "[adaptive_softmax] target 20 at 1 is not in [-1, 20)");
  EXPECT_EQ(any_error_of([&] { model.softmax.cross_entropy(x, tokens({1})); }),
            "[linear_cross_entropy] x [2, 16] needs 2 targets, got 1");
}

// All 700 rows in the largest cluster: their logits would be 105 MB in floats, those of all symbols 140.
TEST(Memory, OfAnAdaptiveSoftmaxIsBlocksOfLogits) {
  const int64_t N = 700, H = 16, V = 50'000;
  const Output model(H, V, {});
  const Leaf x(drawn({N, H}));
  const size_t before = memory_statistics(Device::cpu).bytes_in_use;
  reset_peak_bytes(Device::cpu);
  model.softmax.cross_entropy(x.variable, tokens(std::vector<int32_t>(N, V - 1))).total.backward();
  const size_t peak = memory_statistics(Device::cpu).peak_bytes - before;
  const size_t of_cluster = static_cast<size_t>(N * (V - V / 4)) * sizeof(real);
  EXPECT_LT(peak, of_cluster / 2);
}

}  // namespace
}  // namespace rondo

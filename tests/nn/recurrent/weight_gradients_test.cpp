// A recurrent weight's gradient is one product over all steps, whatever the cell.
#include <gtest/gtest.h>

#include <sstream>

#include "autograd/functions.h"
#include "tensor/profile.h"
#include "tests/nn/parameters.h"

namespace rondo {
namespace {

class WeightGradients : public testing::TestWithParam<std::string> {};

TEST_P(WeightGradients, AreProductsOverAllSteps) {
  constexpr int64_t T = 7, B = 3;
  StackAlone layer(GetParam(), 4, 5);
  const Variable x(Tensor::filled({T, B, 4}, real(0.5)));
  const Variable loss = sum(layer.stack(x, layer.stack.initial_states(B)).output);
  set_profiling(true);
  loss.backward();
  const std::vector<ProfileEntry> entries = profile();
  set_profiling(false);
  int64_t products = 0;
  for (const ProfileEntry& entry : entries) {
    if (entry.kind != "gemm" || entry.name.find(" TN") == std::string::npos) continue;  // dZ^T X
    std::istringstream name(entry.name);                                                // as in 20x5x21 TN
    int64_t rows = 0, columns = 0, terms = 0;
    char by = 0;
    ASSERT_TRUE(name >> rows >> by >> columns >> by >> terms) << entry.name;
    EXPECT_EQ(terms, T * B) << entry.name;
    products += entry.calls;
  }
  int64_t weights = 0;
  for (const Segment& segment : layer.segments()) weights += segment.shape.dimensions() == 2;
  EXPECT_GE(products, weights);
  EXPECT_LE(products, 4 * weights);  // a gate whose input is its own has a product of its own
}

/// All but the tensor RNN, which makes a matrix for each symbol of each stream.
std::vector<std::string> cells_that_reuse_weights() {
  std::vector<std::string> names = cell_names();
  std::erase(names, "trnn");
  return names;
}

INSTANTIATE_TEST_SUITE_P(Cells, WeightGradients, testing::ValuesIn(cells_that_reuse_weights()),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace rondo

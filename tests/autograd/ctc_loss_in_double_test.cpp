// The gradient check of the CTC loss. Its values: ctc_loss_in_both_test.cpp.
#include "autograd/ctc_loss.h"

#include "autograd/functions.h"
#include "tests/autograd/samples.h"

namespace rondo {
namespace {

using Variables = std::vector<Variable>;

TEST(Gradient, OfCtcLoss) {
  const CtcTargets targets({{1, 2, 2}, {3, 1}, {}, {4, 4}}, {7, 5, 3, 2});
  expect_gradients([&](const Variables& x) { return ctc_loss(x[0], targets); }, samples({{7, 4, 5}}));
  expect_gradients(
      [&](const Variables& x) { return ctc_loss(x[0].slice(1, 8).slice_columns(1, 6), targets); },
      samples({{9, 4, 7}}));
}

}  // namespace
}  // namespace rondo

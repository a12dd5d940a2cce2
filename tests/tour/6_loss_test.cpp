// Grades the exercises of docs/tour/6_loss.md.
#include <6_loss.h>
#include <gtest/gtest.h>

#include "autograd/functions.h"
#include "autograd/linear.h"
#include "autograd/operators.h"
#include "tensor/random.h"

namespace rondo::tour {

TEST(Tour6, TheGradientIsPMinusY) {
  const std::vector<double> logits = {0.5, -1, 3};
  const Tensor z = Tensor::from({0.5, -1, 3}, {1, 3}), dz = Tensor::zeros({1, 3});
  const Variable loss = sum(cross_entropy(Variable::leaf(z, dz), tokens({1})));
  loss.backward();
  const LossAndGradient by_hand = cross_entropy_by_hand(logits, 1);
  EXPECT_NEAR(by_hand.loss, loss.value().item(), 1e-6);
  ASSERT_EQ(by_hand.gradient.size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(by_hand.gradient[i], dz.data()[i], 1e-6) << i;
  EXPECT_NEAR(cross_entropy_by_hand({1000, 1000}, 0).loss, std::log(2), 1e-12);
  EXPECT_NEAR(cross_entropy_by_hand({1000, 0}, 1).loss, 1000, 1e-9);
}

TEST(Tour6, AGradientThroughTime) {
  constexpr int64_t T = 6, H = 3;
  const Tensor U({H, H}), dU = Tensor::zeros({H, H}), x({T, H}), e({T, H}), states({T + 1, H});
  fill_uniform(U, {.seed = 1}, -1, 1);
  fill_uniform(x, {.seed = 2}, -1, 1);
  fill_uniform(e, {.seed = 3}, -1, 1);
  fill(states, 0);
  const Variable weight = Variable::leaf(U, dU);
  Variable h = Tensor::zeros({1, H}), C = Tensor::zeros({1});  // C = sum over t of e_t h_t
  for (int64_t t = 0; t < T; ++t) {
    h = tanh(add_linear(x.slice(t, t + 1), h, weight));
    copy(h.value(), states.slice(t + 1, t + 2));
    C = C + sum(h * e.slice(t, t + 1));
  }
  C.backward();
  const Tensor by_hand = back_through_time(U, states, e);
  for (int64_t i = 0; i < H; ++i)
    for (int64_t j = 0; j < H; ++j) EXPECT_NEAR(by_hand[i].data()[j], dU[i].data()[j], 1e-5);
}

}  // namespace rondo::tour

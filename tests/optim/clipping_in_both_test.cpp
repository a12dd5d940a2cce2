// Clipping by the global norm: against PyTorch, and at its edges.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "optim/step_control.h"
#include "tensor/tensor.h"
#include "tests/golden/golden.h"
#include "tests/optim/flat.h"

namespace rondo::clipping_test {
namespace {

const double tolerance = sizeof(real) == 4 ? 1e-6 : 1e-14;

/// Both parameters of a case, behind one another.
std::vector<double> both(const std::string& name) {
  std::vector<double> numbers = Golden::file().values(name + ".first");
  for (double number : Golden::file().values(name + ".second")) numbers.push_back(number);
  return numbers;
}

TEST(Clipping, FollowsPyTorch) {
  for (const std::string name : {"clip_norm", "clip_norm_idle"}) {
    const Tensor gradients = flat(both(name + ".gradient"));
    const double norm = clip_gradient_norm(gradients, Golden::file().setting(name + ".max_norm"));
    EXPECT_NEAR(norm, Golden::file().values(name + ".norm")[0], tolerance * 10) << name;
    const std::vector<double> expected = both(name + ".clipped");
    ASSERT_EQ(gradients.size(), static_cast<int64_t>(expected.size()));
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(gradients.to_vector()[i], expected[i], tolerance) << name << " [" << i << "]";
  }
}

// Where a GPU decides on a step, in numbers of its own precision.
TEST(StepControl, ScalesNotesAndStopsForGood) {
  const Tensor gradients = flat({3, 0, -4});
  std::vector<StepRecord> records(2);
  StepDecision decision;
  const auto decide = [&](double loss, double most, int64_t slot) {
    decide_step(flat({loss}), gradients, most, &slot, records, &decision);
    return control_by(&decision);
  };
  EXPECT_EQ(decide(2.5, 10, 0).gradient_scale.now(), 1);
  EXPECT_EQ(records[0].loss, real(2.5));
  EXPECT_NEAR(records[0].norm, 5, tolerance * 10);
  EXPECT_NEAR(decide(2.5, 2, 1).gradient_scale.now(), 2.0 / (5 + 1e-6), tolerance);
  EXPECT_EQ(decide(2.5, 0, 1).gradient_scale.now(), 1) << "0: not clipped";
  EXPECT_EQ(decide(2.5, 2, 1).stop.now(), 0);
  EXPECT_NE(decide(std::numeric_limits<double>::quiet_NaN(), 2, 1).stop.now(), 0);
  EXPECT_NE(decide(2.5, 2, 1).stop.now(), 0) << "for good";
}

TEST(Clipping, ByHand) {
  struct Case {
    std::vector<double> gradients;
    double most, norm;
    std::vector<double> clipped;
  };
  const std::vector<Case> cases = {{{3, 0, -4}, 10, 5, {3, 0, -4}},
                                   {{3, 0, -4}, 1, 5, {0.6, 0, -0.8}},
                                   // PyTorch's guard of 1e-6 halves a gradient that is as small as itself.
                                   {{1e-6}, 1e-6, 1e-6, {0.5e-6}},
                                   {{3e9, 4e9}, 1, 5e9, {0.6, 0.8}},  // a factor far below 1
                                   {{3, 4}, 0, 5, {3, 4}},            // only the norm
                                   {{0, 0, 0}, 1, 0, {0, 0, 0}}};
  for (const Case& it : cases) {
    const Tensor gradients = flat(it.gradients);
    EXPECT_NEAR(clip_gradient_norm(gradients, it.most), it.norm, tolerance * std::max(1.0, it.norm));
    for (size_t i = 0; i < it.clipped.size(); ++i)
      EXPECT_NEAR(gradients.to_vector()[i], it.clipped[i],
                  it.clipped == it.gradients ? 0 : 1.1e-6 * std::abs(it.clipped[i]))
          << it.most << ", element " << i;
  }
}

TEST(Clipping, ScalesNothingIfTheNormIsNotFinite) {
  const real most = std::numeric_limits<real>::max(), infinity = std::numeric_limits<real>::infinity();
  for (real bad : {infinity, -infinity, std::numeric_limits<real>::quiet_NaN(), most}) {
    const Tensor gradients = Tensor::from({3, bad, 4}, {3});
    EXPECT_FALSE(std::isfinite(clip_gradient_norm(gradients, 1))) << bad;
    EXPECT_EQ(gradients.to_vector()[0], 3) << bad;
    EXPECT_EQ(gradients.to_vector()[2], 4) << bad;
  }
}

TEST(Clipping, RefusesANegativeNorm) {
  const Tensor gradients = flat({3, 4});
  EXPECT_THROW(clip_gradient_norm(gradients, -1), Error);
  EXPECT_THROW(clip_gradient_norm(gradients, NAN), Error);
}

}  // namespace
}  // namespace rondo::clipping_test

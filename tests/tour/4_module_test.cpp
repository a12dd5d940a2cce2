// Grades the exercises of docs/tour/4_module.md.
#include <4_module.h>
#include <gtest/gtest.h>

namespace rondo::tour {

TEST(Tour4, AllWeightsAreOneBuffer) {
  const TwoLayers model;
  EXPECT_EQ(model.parameter_count(), 32);
  EXPECT_EQ(TwoLayers::predicted_parameter_count, 32);
  fill(model.values(), 0.5);  // also the gaps, which a real training keeps at zero
  // The hidden units of x = 0 are their biases, 0.5; an output adds 5 of them times 0.5, and its bias.
  const Variable y = model(Tensor::zeros({1, TwoLayers::I}));
  EXPECT_EQ(y.value().to_vector(), std::vector<real>(TwoLayers::O, 1.75));
}

TEST(Tour4, AnOptimizerTrainsTheRangeThatItIsGiven) {
  const TwoLayers model;
  fill(model.gradients(), 1);
  std::vector<std::vector<real>> expected;
  for (const Segment& it : model.segments()) {
    expected.push_back(part_of(model.values(), it).to_vector());
    for (real& value : expected.back()) value -= it.name.starts_with("second.") ? real(0.25) : 0;
  }
  train_second_layer(model, 0.25);
  size_t i = 0;
  for (const Segment& it : model.segments())
    EXPECT_EQ(part_of(model.values(), it).to_vector(), expected[i++]) << it.name;
  EXPECT_EQ(i, 4u);
}

}  // namespace rondo::tour

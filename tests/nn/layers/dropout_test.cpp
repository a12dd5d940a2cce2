// Dropout: what its masks depend on.
#include <gtest/gtest.h>

#include <algorithm>

#include "autograd/functions.h"
#include "tests/nn/models/small_model.h"

namespace rondo {
namespace {

using Numbers = std::vector<real>;

struct Dropped : Module {
  Dropped() : first(*this, "first", 0.5), second(*this, "second", 0.5) { finalize(1); }
  Dropout first, second;
};

TEST(Dropout, DependsOnUpdateNameAndDrawOnly) {
  const Variable x(Tensor::filled({4, 50}, 1));
  const RandomContext third{.seed = 7, .update = 3, .slice = {4, 0, 4}},
      fourth{.seed = 7, .update = 4, .slice = {4, 0, 4}};
  Dropped model;
  model.begin_update(third);
  EXPECT_EQ(model.first(x).value().to_vector(), x.value().to_vector());  // not training
  model.set_training(true);
  const auto draw = [&](Dropout& dropout) { return dropout(x).value().to_vector(); };
  const Numbers a = draw(model.first), second_draw = draw(model.first), b = draw(model.second);
  EXPECT_NE(a, x.value().to_vector());
  EXPECT_NE(a, second_draw);
  EXPECT_NE(a, b);
  model.begin_update(third);
  EXPECT_EQ(draw(model.second), b);  // the order of modules does not matter
  EXPECT_EQ(draw(model.first), a);
  EXPECT_EQ(draw(model.first), second_draw);
  model.begin_update(fourth);
  EXPECT_NE(draw(model.first), a);
  Dropped another;
  another.set_training(true);
  another.begin_update(third);
  EXPECT_EQ(draw(another.first), a);
}

TEST(Dropout, MicroBatchesGiveTheWholeBatchsGradient) {
  LanguageModelOptions options = small();
  options.dropout = 0.5;
  options.embedding_dropout = 0.3;
  options.regularization.weight_drop = 0.4;
  options.experts = 2;
  options.latent_dropout = 0.2;
  const std::vector<int32_t> ids = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 1},
                             targets = {5, 6, 7, 8, 9, 10, 0, 1, 2, 3, 4, 5};
  const int64_t T = 3, B = 4;
  const auto gradient = [&](int64_t micro) {
    LanguageModel model(options, 11);
    model.set_training(true);
    for (int64_t first = 0; first < B; first += micro) {
      std::vector<int32_t> some, wanted;
      for (int64_t t = 0; t < T; ++t)
        for (int64_t b = first; b < first + micro; ++b) {
          some.push_back(ids[t * B + b]);
          wanted.push_back(targets[t * B + b]);
        }
      model.begin_update({.seed = 1, .update = 9, .slice = {micro, first, B}});
      const auto result = model.forward({tokens(some), T, micro}, model.initial_states(micro));
      model.cross_entropy(result.output, tokens(wanted)).total.backward();
    }
    return model.gradients().to_vector();
  };
  const Numbers whole = gradient(4), halves = gradient(2), singles = gradient(1);
  for (size_t i = 0; i < whole.size(); ++i) {
    ASSERT_NEAR(whole[i], halves[i], 1e-5);
    ASSERT_NEAR(whole[i], singles[i], 1e-5);
  }
}

TEST(Dropout, DropsTheSameAtAllStepsIfItIsVariational) {
  struct Part : Module {
    Part() { finalize(1); }
    Dropout dropout{*this, "d", 0.5, true};
  } part;
  const int64_t T = 4, B = 6, W = 5;
  const Variable ones(Tensor::filled({T, B, W}, 1));
  const auto drawn = [&](uint64_t update, BatchSlice slice) {
    part.begin_update({.seed = 2, .update = update, .slice = slice});
    return part.dropout(Variable(Tensor::filled({T, slice.batch, W}, 1))).value();
  };
  EXPECT_EQ(part.dropout(ones).value().to_vector(), ones.value().to_vector());
  part.set_training(true);
  const Tensor whole = drawn(0, {B, 0, B});
  const Numbers first = whole[0].to_vector();
  EXPECT_GT(std::count(first.begin(), first.end(), 0), 5);
  EXPECT_GT(std::count(first.begin(), first.end(), 2), 5);
  for (int64_t t = 1; t < T; ++t) EXPECT_EQ(whole[t].to_vector(), first);
  EXPECT_NE(drawn(1, {B, 0, B})[0].to_vector(), first);
  const Numbers part_of_it = drawn(0, {2, 3, B})[T - 1].to_vector();  // a micro-batch of the same update
  EXPECT_EQ(part_of_it, Numbers(first.begin() + 3 * W, first.begin() + 5 * W));
}

TEST(Dropout, DropsTheSameOfRowsWithGaps) {
  struct Part : Module {
    Part() { finalize(1); }
    Dropout dropout{*this, "d", 0.5, true};
  } part;
  part.set_training(true);
  const int64_t T = 4, B = 6, W = 5;
  const Tensor dense = Tensor::filled({T, B, W}, 1),
               gaps = Tensor::filled({T, B, W + 3}, 1).slice_columns(0, W);
  ASSERT_FALSE(gaps.contiguous());
  for (const BatchSlice slice : {BatchSlice{}, {B, 0, B}, {B, 3, 2 * B}, {2, 1, 5}}) {
    const auto drawn = [&](const Tensor& x) {
      part.begin_update({.seed = 2, .slice = slice});
      return part.dropout(Variable(x)).value().to_vector();
    };
    const Numbers expected = drawn(dense);
    EXPECT_EQ(drawn(gaps), expected) << slice.batch;
    EXPECT_NE(Numbers(expected.begin(), expected.begin() + W),
              Numbers(expected.begin() + W, expected.begin() + 2 * W));
  }
}

}  // namespace
}  // namespace rondo

// Modules lay parameters out once, in two buffers.
#include <gtest/gtest.h>

#include <cmath>

#include "autograd/functions.h"
#include "autograd/operators/arithmetic.h"
#include "autograd/operators/functions.h"
#include "nn/cells/catalogue.h"
#include "nn/layers/embedding.h"
#include "nn/layers/linear.h"
#include "optim/optimizer.h"
#include "tests/nn/models/small_model.h"
#include "tests/nn/parameters.h"
#include "tests/tensor/errors.h"

namespace rondo {
namespace {

using Numbers = std::vector<real>;

struct Pair : Module {
  Pair() : first(*this, "first", 3, 5), second(*this, "second", 5, 2) {}
  Linear first, second;
};

TEST(Module, LaysParametersOutOnceAndInTwoBuffers) {
  Pair model;
  EXPECT_EQ(model.parameter_count(), 20 + 12);
  EXPECT_EQ(any_error_of([&] { model.first.weight.variable(); }),
            "[first.weight] call finalize() on the model before using it");
  EXPECT_EQ(any_error_of([&] { (void)model.values(); }), "[model] call finalize() first");
  EXPECT_EQ(any_error_of([&] { model.first.finalize(1); }),
            "[finalize] is for a whole model, and this is a part of one");
  model.finalize(1);
  EXPECT_EQ(any_error_of([&] { model.finalize(1); }), "[finalize] this model is laid out already");
  EXPECT_EQ(any_error_of([&] { Parameter late(model, "late", {3}, constant_values(0)); }),
            "[late] a parameter made after finalize() would not be trained");
  EXPECT_EQ(model.values().size(), model.gradients().size());
  int64_t end = 0;
  for (const Segment& segment : model.segments()) {
    EXPECT_GE(segment.offset, end);
    EXPECT_EQ(segment.offset % 16, 0);
    if (segment.shape.dimensions() == 2) {
      EXPECT_EQ(segment.row_stride * sizeof(real) % 16, 0) << segment.name;
    }
    end = segment.offset + segment.shape.rows() * segment.row_stride;
  }
  EXPECT_LE(end, model.values().size());
  EXPECT_TRUE(model.first.weight.variable().value().shares_memory(model.values()));
}

TEST(Module, HasItsNamesAndShapesBeforeItsMemory) {
  Pair model, drawn;
  EXPECT_EQ(any_error_of([&] { (void)model.values(); }), "[model] call finalize() first");
  drawn.finalize(1);
  model.finalize(1, 0, Device::meta);
  EXPECT_EQ(model.segments().size(), drawn.segments().size());
  EXPECT_EQ(model.values().size(), drawn.values().size());
  EXPECT_EQ(model.device(), Device::meta);
  model.allocate(Device::cpu);
  EXPECT_EQ(model.device(), Device::cpu);
  EXPECT_EQ(model.values().to_vector(), Numbers(drawn.values().size(), 0)) << "to be read from a file";
  EXPECT_TRUE(model.first.weight.variable().value().shares_memory(model.values()));
  EXPECT_EQ(any_error_of([&] { model.allocate(Device::cpu); }), "[allocate] this model has memory already");
}

TEST(Module, RefusesTwoParametersOfOneName) {
  struct Twice : Module {
    Parameter a{*this, "a", {2}, constant_values(0)}, b{*this, "a", {2}, constant_values(0)};
  };
  EXPECT_EQ(any_error_of([] { Twice(); }), "[a] two parameters of this name");
}

TEST(Module, RefusesBuffersOfAnotherModelAndPartsThatAreGone) {
  Pair model;
  EXPECT_EQ(any_error_of([&] { (void)model.segments(); }), "[model] call finalize() first");
  model.finalize(1);
  EXPECT_EQ(any_error_of([&] { (void)model.first.segments(); }),
            "[values] is for a whole model, and this is a part of one");
  struct Other : Module {
    Other() { finalize(1); }
    Linear first{*this, "first", 30, 5}, second{*this, "second", 5, 2};
  } other;
  const Tensor& foreign = other.values();
  const std::string size = " lies in a buffer of 80 numbers, not in one of [208]";
  EXPECT_EQ(any_error_of([&] { part_of(foreign, model.segments()[0]); }), "[first.weight]" + size);
  EXPECT_EQ(any_error_of([&] { (void)model.second.range_of(foreign); }), "[second.]" + size);
  for (const bool before : {true, false}) {
    Module root;
    auto layer = std::make_unique<Linear>(root, "layer", 2, 3);
    if (!before) root.finalize(1);
    layer.reset();
    EXPECT_EQ(
        any_error_of([&] { before ? root.finalize(1) : root.begin_gradients(); }),
        "[layer.weight] was destroyed before its model: keep its module as long as that, as by a member");
  }
  auto root = std::make_unique<Module>();
  const auto layer = std::make_unique<Linear>(*root, "layer", 2, 3);  // it may outlive its model
  root.reset();
  Module empty;
  EXPECT_EQ(any_error_of([&] { Linear(empty, "none", 0, 3); }),
            "[none.weight] a parameter of [3, 0] holds nothing: give 1 or more of each");
}

TEST(Embedding, StartsAsPyTorchsUnlessToldOtherwise) {
  struct Table : Module {
    Table() { finalize(1); }
    Embedding embedding{*this, "embedding", 500, 8};
  } model;
  const double count = 500 * 8;
  EXPECT_NEAR(sum(model.values()) / count, 0, 0.1);
  EXPECT_NEAR(sum_of_squares(model.values()) / count, 1, 0.1);
}

TEST(Module, GradientsThatHaveBegunNeedNoZeros) {
  for (const std::string& cell : cell_names()) {
    LanguageModel model(small(cell), 11);
    const auto add = [&] {
      const auto result = model.forward({tokens({1, 2, 3, 4, 5, 6}), 3, 2}, model.initial_states(2));
      model.cross_entropy(result.output, tokens({2, 3, 4, 5, 6, 7})).total.backward();
    };
    fill(model.gradients(), 0);
    add(), add();
    const Numbers expected = model.gradients().to_vector();
    for (const Segment& segment : model.segments()) fill(part_of(model.gradients(), segment), real(NAN));
    model.begin_gradients();
    add(), add();
    model.complete_gradients();
    EXPECT_EQ(model.gradients().to_vector(), expected) << cell;
  }
  LanguageModel model(small(), 11);
  for (const Segment& segment : model.segments()) fill(part_of(model.gradients(), segment), real(NAN));
  model.begin_gradients();  // and an error before anything has contributed
  model.begin_gradients();
  model.complete_gradients();
  EXPECT_EQ(model.gradients().to_vector(), Numbers(static_cast<size_t>(model.values().size()), 0));
  Pair pair;
  pair.finalize(1);
  EXPECT_EQ(any_error_of([&] { pair.first.begin_gradients(); }),
            "[begin_gradients] is for a whole model, and this is a part of one");
  EXPECT_EQ(any_error_of([&] { pair.first.complete_gradients(); }),
            "[complete_gradients] is for a whole model, and this is a part of one");
  EXPECT_EQ(any_error_of([] { Variable(Tensor({1})).begin_gradient(); }),
            "[begin_gradient] of a leaf, and this is none");
}

TEST(Module, PadsStayZero) {
  Pair model;
  model.finalize(1);
  const auto pads = [&](const Tensor& buffer) {
    const Tensor left = clone(buffer);
    for (const Segment& segment : model.segments()) fill(part_of(left, segment), 0);
    return left.to_vector();
  };
  const Numbers zeros(model.values().size(), 0);
  EXPECT_EQ(pads(model.values()), zeros);
  sum(square(model.second(tanh(model.first(Variable(Tensor::filled({4, 3}, 1))))))).backward();
  EXPECT_EQ(pads(model.gradients()), zeros);
  EXPECT_GT(sum_of_squares(model.gradients()), 0);
  accumulate(model.gradients(), model.values(), real(-0.1));
  EXPECT_EQ(pads(model.values()), zeros);
}

}  // namespace
}  // namespace rondo

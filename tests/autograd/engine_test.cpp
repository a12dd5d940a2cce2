// The engine: what backward refuses, what it accumulates, long chains, and errors on the way.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <utility>

#include "autograd/cross_entropy.h"
#include "autograd/linear.h"
#include "autograd/operators/arithmetic.h"
#include "autograd/operators/functions.h"
#include "autograd/sequence.h"
#include "tensor/allocator.h"
#include "tensor/random.h"
#include "tensor/threads.h"
#include "tests/autograd/cube.h"
#include "tests/tensor/errors.h"

namespace rondo {
namespace {

using Numbers = std::vector<real>;

struct Leaf {
  explicit Leaf(const Tensor& start) : value(start), gradient(Tensor::zeros(start.shape())) {}
  Variable variable() const { return Variable::leaf(value, gradient); }
  Tensor value, gradient;
};

TEST(Engine, StartsFromASingleNumberWithHistory) {
  const Leaf x(Tensor::filled({2, 3}, 1));
  EXPECT_EQ(any_error_of([&] { (x.variable() * real(2)).backward(); }),
            "[backward] starts from a single number, not [2, 3]; sum() or mean() it first");
  EXPECT_EQ(any_error_of([&] { sum(Variable(x.value)).backward(); }),
            "[backward] this value depends on no parameter, or was computed under NoGradient; there is "
            "nothing to do");
  EXPECT_EQ(any_error_of([&] {
              Variable::leaf(x.value, Tensor({3, 2}));
            }),
            "[leaf] a gradient [3, 2] does not fit a value [2, 3]");
}

TEST(Engine, RefusesASecondBackwardAndSaysWhatToDo) {
  const Leaf x(Tensor::filled({2}, 3));
  const Variable loss = sum(square(x.variable()));
  loss.backward();
  EXPECT_EQ(any_error_of([&] { loss.backward(); }),
            "[sum] backward has already run through this graph and used it up; compute the loss again before "
            "a second "
            "backward");
  EXPECT_EQ(x.gradient.to_vector(), (Numbers{6, 6}));
}

TEST(Engine, RefusesASecondLossOverAGraphThatIsUsedUp) {
  const Leaf x(Tensor::filled({2}, 3));
  const Variable shared = square(x.variable()), first = sum(shared), second = mean(shared);
  first.backward();
  EXPECT_NE(any_error_of([&] { second.backward(); }).find("[square] backward has already run"),
            std::string::npos);
}

TEST(Engine, SaysWhenAGradientIsComplete) {
  const Leaf first(Tensor::filled({2}, 3)), second(Tensor::filled({2}, 5)), third(Tensor::filled({2}, 7));
  const Variable x = first.variable(), y = second.variable(), z = third.variable();
  std::vector<std::pair<const real*, Numbers>> completed;
  Numbers of_z;  // when that of x is complete
  // Backward runs through * y, + x, * x, and at last * z.
  sum((z * real(2) * x + x) * y).backward([&](const Tensor& gradient) {
    completed.emplace_back(gradient.data(), gradient.to_vector());
    if (gradient.data() == first.gradient.data()) of_z = third.gradient.to_vector();
  });
  EXPECT_EQ(completed, (std::vector<std::pair<const real*, Numbers>>{{second.gradient.data(), {45, 45}},
                                                                     {first.gradient.data(), {75, 75}},
                                                                     {third.gradient.data(), {30, 30}}}));
  EXPECT_EQ(of_z, (Numbers{0, 0})) << "before the operator that uses z";
  const Leaf alone(Tensor::filled({1}, 3));
  int times = 0;
  alone.variable().backward([&](const Tensor&) { ++times; });
  EXPECT_EQ(times, 1) << "a loss that is a leaf";
}

TEST(Engine, ALossMayBeUsedByTwoLosses) {
  const Leaf x(Tensor::filled({2}, 3));
  const Variable loss = sum(square(x.variable()));
  (loss * loss + loss * real(0.5)).backward();
  EXPECT_EQ(x.gradient.to_vector(), (Numbers{(2 * 18 + real(0.5)) * 6, (2 * 18 + real(0.5)) * 6}));
}

// Each loss is one way to reach a gradient: whole, by regions that overlap or leave gaps, by rows, by
// products.
TEST(Engine, AGradientThatHasBegunIsWrittenNotAdded) {
  const Tokens rows = tokens({2, 0, 2});
  const std::vector<std::function<Variable(const Variable& w)>> losses = {
      [](const Variable& w) { return sum(square(w)); },
      [](const Variable& w) { return sum(square(w.slice(1, 2))); },
      [](const Variable& w) { return sum(square(w.slice_columns(1, 2))) + sum(square(w.slice(0, 2))); },
      [](const Variable& w) { return sum(square(w.slice(0, 1))) + sum(w.slice(1, 3)) + sum(square(w)); },
      [&](const Variable& w) { return sum(square(gather_rows(w, rows))); },
      [](const Variable& w) {
        return sum(linear(Variable(Tensor::filled({2, 3}, 2)), w));
      },
      [](const Variable& w) {
        const Variable x(Tensor::filled({2, 3}, 2));
        return sum(linear(x, w)) + sum(linear(x, w.slice(1, 3))) +
               linear_cross_entropy(x, w, {}, tokens({1, -1})).total;
      },
      [](const Variable& w) {
        return linear_cross_entropy(Variable(Tensor::filled({1, 3}, 2)), w, {}, tokens({1})).total * real(3);
      },
      [](const Variable&) { return Variable(); }};
  for (const auto& loss : losses) {
    const Leaf zeroed(Tensor::filled({3, 3}, 2)), begun(Tensor::filled({3, 3}, 2));
    const Variable expected = zeroed.variable(), actual = begun.variable();
    const auto add = [&](const Variable& w) {
      if (const Variable value = loss(w); value.defined()) value.backward();
    };
    for (int update = 0; update < 2; ++update) {
      fill(zeroed.gradient, 0);
      fill(begun.gradient, NAN);
      actual.begin_gradient();
      for (int part = 0; part <= update; ++part) add(expected), add(actual);
      actual.complete_gradient();
      EXPECT_EQ(begun.gradient.to_vector(), zeroed.gradient.to_vector()) << &loss - losses.data();
    }
    add(expected), add(actual);  // added again
    EXPECT_EQ(begun.gradient.to_vector(), zeroed.gradient.to_vector()) << &loss - losses.data();
  }
}

TEST(Engine, RefusesSavedTensorsThatWereOverwritten) {
  const Leaf w(Tensor::filled({3, 2}, 1));
  const Variable loss = sum(linear(Variable(Tensor::filled({4, 2}, 1)), w.variable()));
  fill(w.value, 2);
  EXPECT_EQ(
      any_error_of([&] { loss.backward(); }),
      "[linear] backward needs a tensor [3, 2] that was overwritten after it was used; run backward before "
      "updating it");
  const Leaf x(Tensor::filled({3}, 2));
  const Variable squares = sum(square(x.variable()));
  x.value.slice(1, 2).mutable_data()[0] = 5;
  EXPECT_NE(any_error_of([&] { squares.backward(); }).find("[square] backward needs a tensor [3]"),
            std::string::npos);
}

TEST(Engine, RefusesSavedPartsThatWereOverwritten) {
  const Tensor memory({2, 3, 4});
  const auto step = [&](int64_t t) {
    fill(memory[t].as_part(), 1);
    return Variable(memory[t].as_part());
  };
  const Leaf w(Tensor::filled({5, 4}, 1));
  /// Whether backward refuses to use the first step, and all steps, after this.
  const auto refused = [&](const std::function<void(const Tensor& first, const Tensor& all)>& overwrite) {
    const Variable first = step(0), all = stack({first, step(1)});
    const Variable losses[] = {sum(linear(first, w.variable())), sum(linear(all, w.variable()))};
    overwrite(first.value(), all.value());
    std::vector<bool> result;
    for (const Variable& loss : losses) try {
        loss.backward();
        result.push_back(false);
      } catch (const Error&) {
        result.push_back(true);
      }
    return result;
  };
  EXPECT_EQ(refused([](const Tensor&, const Tensor& all) { scale(all, 2); }), (std::vector{true, true}));
  EXPECT_EQ(refused([](const Tensor& first, const Tensor&) { scale(first, 2); }), (std::vector{true, true}));
  EXPECT_EQ(refused([&](const Tensor&, const Tensor&) { scale(memory[1].as_part(), 2); }),
            (std::vector{false, true}))
      << "steps are apart from each other";
}

TEST(Engine, RecordsNothingUnderNoGradient) {
  const Leaf x(Tensor::filled({2}, 3));
  {
    const NoGradient outer;
    EXPECT_FALSE(recording());
    { const NoGradient inner; }
    EXPECT_FALSE(recording());
    EXPECT_FALSE(square(x.variable()).needs_gradient());
    EXPECT_FALSE(cross_entropy(x.variable(), tokens({0})).needs_gradient());
  }
  EXPECT_TRUE(recording());
  EXPECT_TRUE(square(x.variable()).needs_gradient());
  EXPECT_FALSE(square(x.variable().detached()).needs_gradient());
  EXPECT_FALSE(square(Variable(x.value)).needs_gradient());
}

TEST(Engine, RunsAndDestroysChainsOfAnyLength) {
  const int length = 50000;
  const Leaf x(Tensor::filled({2}, 1));
  const auto chain = [&] {
    Variable y = x.variable();
    for (int i = 0; i < length; ++i) y = i % 2 ? -y : y + real(1);
    return y;
  };
  sum(chain()).backward();
  EXPECT_EQ(x.gradient.to_vector(), (Numbers{1, 1}));
  { const Variable never_used = chain(); }
  // A chain that forks and joins at each step.
  Variable y = x.variable();
  for (int i = 0; i < length / 5; ++i) y = (y + y) * real(0.5);
  sum(y).backward();
  EXPECT_EQ(x.gradient.to_vector(), (Numbers{2, 2}));
}

TEST(Engine, AnErrorInBackwardLeavesItUsable) {
  const Leaf w(Tensor::filled({2, 2}, 1)), bad(Tensor::filled({2}, 1));
  const Variable weight = w.variable(), x(Tensor::from({1, 2}, {1, 2}));
  {
    // The product for the weight is handed over before the other branch fails.
    const Variable broken = square(bad.variable());
    const Variable loss = sum(linear(x + broken, weight));
    fill(bad.value, 3);
    EXPECT_NE(any_error_of([&] { loss.backward(); }).find("[square]"), std::string::npos);
  }
  fill(w.gradient, 0);
  sum(linear(x, weight)).backward();
  EXPECT_EQ(w.gradient.to_vector(), (Numbers{1, 2, 1, 2}));
}

TEST(Engine, GivesAllMemoryBack) {
  const Leaf w(Tensor::filled({16, 16}, real(0.1)));
  const auto train = [&] {
    Variable h(Tensor::filled({4, 16}, 1));
    for (int t = 0; t < 20; ++t) h = tanh(add_linear(h, h, w.variable()));
    const Variable loss = sum(h);
    loss.backward();
    const Variable unused = square(h);
  };
  train();  // from now on the weight keeps its packs
  const size_t before = memory_statistics(Device::cpu).bytes_in_use;
  train();
  EXPECT_EQ(memory_statistics(Device::cpu).bytes_in_use, before);
}

// ---- The loss of a language model.

TEST(NegativeLogLikelihood, DoesNotOverflow) {
  const Leaf x(Tensor::from({1000, -1000, -1e30f, -3e38f}, {2, 2}));
  const Variable loss = cross_entropy(x.variable(), tokens({1, 0}));
  EXPECT_EQ(loss.value().to_vector(), (Numbers{2000, 0}));
  sum(loss).backward();
  EXPECT_EQ(x.gradient.to_vector(), (Numbers{1, -1, 0, 0}));
}

// ---- Errors of operators.

TEST(Operators, ErrorsNameOperatorAndShapes) {
  const Variable a(Tensor::zeros({2, 3})), b(Tensor::zeros({3, 2})), v(Tensor::zeros({2})), undefined;
  const Variable three(Tensor({3})), deep(Tensor({1, 1, 1, 1}));
  const std::vector<Variable> both = {a, b};
  const Tokens none;
  const std::string of_undefined =
                        "[tensor] an undefined tensor has no memory: give it a value, as by Tensor::zeros()",
                    of_none = "[tokens] there are none: give ids, as by tokens({3, 1})";
  const auto ids = [](int32_t first, int32_t second) { return tokens({first, second}); };
  const std::vector<std::pair<std::function<void()>, std::string>> errors = {
      {[&] { a + b; },
       "[add] needs equal shapes, or a vector [2] for all rows: input 0 is [2, 3] beside [3, 2]"},
      {[&] { a* v; },
       "[multiply] needs equal shapes, or a vector [3] for all rows: input 1 is [2] beside [2, 3]"},
      {[&] { a* undefined; }, "[multiply] input 1 is undefined"},
      {[&] { pointwise(Add{}, a); }, "[add] takes 2 inputs, got 1"},
      {[&] { linear(a, b); }, "[linear] x [.., I] and W [O, I] need one I: got [2, 3] and [3, 2]"},
      {[&] { linear(a, a, {three}); }, "[linear] a bias for W [2, 3] is [2], got [3]"},
      {[&] { add_linear(a, a, a); }, "[add_linear] z [2, 3] does not fit x [2, 3] times W^T [2, 3]"},
      {[&] { matmul(a, a); }, "[matmul] a [M, K] and b [K, N] need one K: got [2, 3] and [2, 3]"},
      {[&] { concat(both); },
       "[concat] the rows must agree: [3, 2] and [2, 3] (concat_rows puts one below the other)"},
      {[] { concat({}); }, "[concat] needs at least one part"},
      {[&] { stack(both); }, "[stack] the shapes must agree: [3, 2] after [2, 3]"},
      {[] { stack({}); }, "[stack] needs at least one part"},
      {[&] { concat_rows(both); }, "[concat_rows] the columns must agree: [3, 2] after [2, 3]"},
      {[] { concat_rows({}); }, "[concat_rows] needs at least one part"},
      {[&] { stack({deep}); }, "[shape] [1, 1, 1, 1] has no room for one more dimension"},
      {[&] { reshape(a, {7}); }, "[reshape] [2, 3] elements do not fill [7]"},
      {[&] { cross_entropy(a, tokens({0})); }, "[cross_entropy] logits [2, 3] need 2 targets, got 1"},
      {[&] { cross_entropy(a, ids(0, 3)); }, "[cross_entropy] target 3 at 1 is not in [-1, 3)"},
      {[&] { cross_entropy(a, ids(-2, 0)); }, "[cross_entropy] target -2 at 0 is not in [-1, 3)"},
      {[&] { embedding(b, ids(0, 3)); }, "[embedding] token id 3 at 1 is not in [0, 3)"},
      {[&] { embedding(b, tokens({-1})); }, "[embedding] token id -1 at 0 is not in [0, 3)"},
      {[&] { tanh(undefined); }, "[tanh] input 0 is undefined"},
      {[&] { softmax(undefined); }, of_undefined},
      {[&] { concat({undefined}); }, of_undefined},
      {[&] { sum(undefined); }, of_undefined},
      {[&] { dropout(undefined, 0.5, {}, {}); }, of_undefined},
      {[&] { linear(a, a, {undefined}); }, "[linear] a bias for W [2, 3] is [2], got []"},
      {[&] { embedding(b, none); }, of_none},
      {[&] { gather_rows(b, none); }, of_none},
      {[&] { linear_cross_entropy(a, a, {}, none); }, of_none},
  };
  for (const auto& [act, text] : errors) EXPECT_EQ(any_error_of(act), text);
}

TEST(Operators, AnotherProgramAddsItsOwn) {
  const Variable none(Tensor::filled({1}, 1));
  EXPECT_EQ(any_error_of([&] { pointwise(CubeAndScaled{}, none, none); }),
            "[test_cube_and_scaled] is on no list of operators; a program adds its own list by "
            "add_pointwise_operators()");
  std::vector<PointwiseOperator> wrong = cube_operators();
  wrong[0].known = {{{-2, 3}, {-7.99, -12}}};
  EXPECT_EQ(any_error_of([&] { add_pointwise_operators(wrong); }),
            "[test_cube_and_scaled] output 0 is -8, where its known values say -7.99");
  add_pointwise_operators(cube_operators());
  const Leaf x(Tensor::from({1, 2, 3}, {3})), y(Tensor::from({4, 5, 6}, {3}));
  const auto results = pointwise_outputs(CubeAndScaled{10}, x.variable(), y.variable());
  EXPECT_EQ(results[0].value().to_vector(), (Numbers{1, 8, 27}));
  EXPECT_EQ(results[1].value().to_vector(), (Numbers{40, 100, 180}));
  (sum(results[0]) + sum(results[1])).backward();
  EXPECT_EQ(x.gradient.to_vector(), (Numbers{43, 62, 87}));
  EXPECT_EQ(y.gradient.to_vector(), (Numbers{10, 20, 30}));
  EXPECT_EQ(any_error_of([] { add_pointwise_operators(cube_operators()); }),
            "[test_cube_and_scaled] an operator of this name is known already");
}

// A vector that is repeated for all rows, twice, over more columns than one thread takes.
TEST(Operators, GradientsOfARepeatedVectorAreColumnSums) {
  const int64_t rows = 40, columns = 700;
  const Tensor x({rows, columns});
  fill_uniform(x, {.seed = 1}, -1, 1);
  const int before = threads();
  std::vector<Numbers> gradients;
  for (const int count : {1, 3}) {
    set_threads(count);
    const Leaf v(Tensor::filled({columns}, 2));
    sum(Variable(x) * v.variable() + square(Variable(x)) * v.variable()).backward();
    gradients.push_back(v.gradient.to_vector());
  }
  set_threads(before);
  EXPECT_EQ(gradients[0], gradients[1]);
  for (int64_t j = 0; j < columns; ++j) {
    double expected = 0;
    for (int64_t r = 0; r < rows; ++r) {
      const double value = x.data()[r * columns + j];
      expected += value + value * value;
    }
    ASSERT_NEAR(gradients[0][j], expected, 1e-6 * std::max(10.0, std::abs(expected))) << j;
  }
}

TEST(Operators, ValuesDoNotDependOnThePlaceInARow) {
  // The same number at every place of rows of many lengths: bodies and tails of loops must agree.
  for (int64_t columns = 1; columns < 70; ++columns) {
    const Variable x(Tensor::filled({3, columns}, real(0.7315)));
    for (const Variable& y : {tanh(x), sigmoid(x), exp(x), log(x), log_add_exp(x, x)}) {
      const Numbers values = y.value().to_vector();
      for (real value : values) ASSERT_EQ(value, values[0]) << columns;
    }
    ASSERT_EQ(tanh(x).value().to_vector()[0],
              tanh(Variable(Tensor::filled({1}, real(0.7315)))).value().item());
  }
}

}  // namespace
}  // namespace rondo

// The gradient check of the functions that mix elements, of products, slices, and of weights that are used
// many times.
#include "autograd/functions.h"

#include "autograd/cross_entropy.h"
#include "autograd/linear.h"
#include "autograd/operators/arithmetic.h"
#include "autograd/operators/functions.h"
#include "tests/autograd/samples.h"

namespace rondo {
namespace {

using Variables = std::vector<Variable>;

TEST(Gradient, OfEmbeddingWithRepeatedIds) {
  expect_gradients(
      [](const Variables& x) {
        return embedding(x[0], tokens({3, 0, 3, 3, 1}));
      },
      samples({{5, 4}}));
}

TEST(Gradient, OfEmbeddingUsedTwiceAndAsOutputWeight) {
  expect_gradients(
      [](const Variables& x) {
        const Variable first = embedding(x[0], tokens({1, 2, 2})),
                       second = embedding(x[0], tokens({0, 2, 1}));
        return linear(tanh(first * second), x[0]);
      },
      samples({{5, 4}}));
}

TEST(Gradient, OfConcat) {
  expect_gradients(
      [](const Variables& x) {
        return square(concat({x[0], x[1], x[0]}));
      },
      samples({{3, 2}, {3, 4}}));
  expect_gradients(
      [](const Variables& x) {
        return square(concat({x[0], x[1]}));
      },
      samples({{2, 3, 2}, {2, 3, 1}}));
}

TEST(Gradient, OfStack) {
  expect_gradients([](const Variables& x) { return square(stack({x[0], x[1], x[0]})); }, samples({{4}, {4}}));
  expect_gradients([](const Variables& x) { return square(stack({x[0], x[1]})); }, samples({{3, 4}, {3, 4}}));
  expect_gradients(
      [](const Variables& x) {
        return square(concat_rows({x[0], x[1], x[0].slice(0, 2)}));
      },
      samples({{3, 4}, {2, 4}}));
  expect_gradients(
      [](const Variables& x) {
        return square(stack({x[0], x[1]}));
      },
      samples({{2, 3, 4}, {2, 3, 4}}));
}

// Parts of one buffer, of which a product's backward may overwrite only those that nobody reads any more.
TEST(Gradient, OfColumnPartsOfOneBuffer) {
  const auto parts = [](const Variable& x) {
    const Variable all = tanh(x);
    return std::pair{all.slice_columns(0, 3).as_part(), all.slice_columns(3, 6).as_part()};
  };
  expect_gradients(
      [&](const Variables& x) {
        const auto [a, b] = parts(x[0]);
        const Variable first = sigmoid(a);
        return first * (a * b);
      },
      samples({{4, 6}}));
  const Tensor gradient = Tensor::zeros({4, 6});
  const auto [a, b] = parts(Variable::leaf(samples({{4, 6}})[0], gradient));
  const std::vector<real> before = a.value().to_vector();
  sum(a * b).backward();
  EXPECT_EQ(a.value().to_vector(), before) << "held by us";
}

// The same of parts of a part, whose whole another operator has saved.
TEST(Gradient, OfPartsOfAPart) {
  expect_gradients(
      [](const Variables& x) {
        Variable part = tanh(x[0]).as_part();
        const Variable first = sigmoid(part);
        Variable a = part.slice_columns(0, 3).as_part(), b = part.slice_columns(3, 6).as_part();
        part = {};
        const Variable second = a * b;
        a = b = {};
        return concat({first, second});
      },
      samples({{4, 6}}));
}

TEST(Gradient, OfReshape) {
  expect_gradients(
      [](const Variables& x) {
        return square(reshape(x[0], {2, 3, 2})) * x[1];
      },
      samples({{3, 4}, {2}}));
  expect_gradients([](const Variables& x) { return square(reshape(x[0], {2, 3, 4})); }, samples({{6, 4}}));
  expect_gradients([](const Variables& x) { return square(reshape(x[0].slice_columns(1, 3), {6})); },
                   samples({{3, 4}}));
}

TEST(Gradient, OfSumAndMean) {
  expect_gradients([](const Variables& x) { return square(sum(x[0])); }, samples({{3, 4}}));
  expect_gradients([](const Variables& x) { return square(mean(x[0] * x[0])); }, samples({{3, 4}}));
  expect_gradients([](const Variables& x) { return sum(x[0].slice_columns(1, 3)); }, samples({{3, 4}}));
}

TEST(Gradient, OfSoftmax) {
  expect_gradients([](const Variables& x) { return softmax(x[0]); }, samples({{3, 21}}));
  expect_gradients([](const Variables& x) { return softmax(x[0].slice_columns(1, 4)); }, samples({{3, 5}}));
  expect_gradients([](const Variables& x) { return softmax(x[0]); }, samples({{2, 2, 3}}));
}

TEST(Gradient, OfLogSoftmax) {
  expect_gradients([](const Variables& x) { return log_softmax(x[0]); }, samples({{3, 21}}));
  expect_gradients([](const Variables& x) { return log_softmax(x[0].slice_columns(1, 4)); },
                   samples({{3, 5}}));
}

TEST(Gradient, OfNegativeLogLikelihood) {
  const auto targets = tokens({4, -1, 0, 4});
  expect_gradients([&](const Variables& x) { return cross_entropy(x[0], targets); }, samples({{4, 21}}));
  // Logits that are computed.
  expect_gradients([&](const Variables& x) { return cross_entropy(x[0] * x[1], targets); },
                   samples({{4, 21}, {21}}));
  // Logits that the loss reads twice.
  expect_gradients(
      [&](const Variables& x) {
        const Variable logits = x[0] * real(2);
        const Variable once_more = cross_entropy(logits, tokens({1, 2, 3, 4}));
        return sum(cross_entropy(logits, targets)) + sum(once_more) + sum(tanh(logits));
      },
      samples({{4, 21}}));
}

TEST(Gradient, OfLinearCrossEntropy) {
  const auto targets = tokens({4, -1, 0, 4});
  expect_gradients([&](const Variables& x) { return linear_cross_entropy(x[0], x[1], {}, targets).total; },
                   samples({{4, 3}, {21, 3}}));
  expect_gradients(
      [&](const Variables& x) { return square(linear_cross_entropy(x[0], x[1], x[2], targets, x[3]).total); },
      samples({{4, 3}, {21, 3}, {21}, {4}}));
  expect_gradients(
      [&](const Variables& x) {
        return square(linear_cross_entropy(x[0], x[1], x[2], targets, x[3], 0.3).total);
      },
      samples({{4, 3}, {21, 3}, {21}, {4}}));
  // Inputs that are computed, of three dimensions, views, and used twice.
  expect_gradients(
      [&](const Variables& x) {
        const Variable weight = x[1].slice(1, 9).slice_columns(1, 4), rows = tanh(x[0]);
        return linear_cross_entropy(rows, weight, x[2].slice(1, 9), targets).total * mean(weight) +
               linear_cross_entropy(rows * rows, tanh(weight), {}, targets, exp(x[3])).total + mean(rows);
      },
      samples({{2, 2, 3}, {9, 5}, {9}, {4}}));
}

TEST(LinearCrossEntropy, IsTheLossOfALinearLayer) {
  const int64_t N = 300, V = 10007, H = 3;  // three blocks of 100 rows
  const std::vector<Tensor> inputs = samples({{N, H}, {V, H}, {V}, {N}}, {-2, 2});
  std::vector<int32_t> ids;
  for (int64_t r = 0; r < N; ++r) ids.push_back(static_cast<int32_t>(r % 7 == 3 ? -1 : r * 7919 % V));
  const auto evaluated = [&](const std::function<Variable(const Variables&)>& loss) {
    std::vector<Tensor> results;
    Variables leaves;
    for (const Tensor& input : inputs) {
      results.push_back(Tensor::zeros(input.shape()));
      leaves.push_back(Variable::leaf(input, results.back()));
    }
    const Variable value = loss(leaves);
    value.backward();
    results.push_back(value.value());
    return results;
  };
  Tensor each, expected_each;
  const std::vector<Tensor> actual = evaluated([&](const Variables& x) {
    const CrossEntropy loss = linear_cross_entropy(x[0], x[1], x[2], tokens(ids), x[3]);
    each = loss.each;
    return loss.total;
  });
  const std::vector<Tensor> expected = evaluated([&](const Variables& x) {
    const Variable losses = cross_entropy(linear(x[0], x[1], {x[2]}), tokens(ids));
    expected_each = losses.value();
    return sum(losses * x[3]);
  });
  const auto expect_equal = [](const Tensor& a, const Tensor& b) {
    for (int64_t i = 0; i < a.size(); ++i)
      ASSERT_NEAR(a.data()[i], b.data()[i], 1e-12 * std::max(1.0, std::abs(b.data()[i])))
          << fmt::format("{}", a.shape());
  };
  expect_equal(each, expected_each);
  for (size_t i = 0; i < actual.size(); ++i) expect_equal(actual[i], expected[i]);
}

TEST(Gradient, OfScaleRows) {
  const Tensor factors = Tensor::from({2, 0, -0.5}, {3});
  expect_gradients([&](const Variables& x) { return scale_rows(square(x[0]), factors); }, samples({{3, 4}}));
  expect_gradients([&](const Variables& x) { return scale_rows(x[0].slice_columns(1, 4), factors); },
                   samples({{3, 5}}));
}

TEST(ScaleRows, MultipliesEachRowByItsNumber) {
  const Tensor x = Tensor::from({1, 2, 3, 4, 5, 6}, {3, 2});
  EXPECT_EQ(scale_rows(x, Tensor::from({2, 0, -1}, {3})).value().to_vector(),
            (std::vector<real>{2, 4, 0, 0, -5, -6}));
  EXPECT_THROW(scale_rows(x, Tensor::zeros({2})), Error);
}

TEST(Gradient, OfDropout) {
  for (double probability : {0.0, 0.5})
    expect_gradients(
        [&](const Variables& x) {
          return dropout(square(x[0]), probability, {.seed = 3}, {.batch = 4, .whole = 4});
        },
        samples({{4, 5}}));
}

TEST(Gradient, OfLinear) {
  expect_gradients([](const Variables& x) { return linear(x[0], x[1]); }, samples({{3, 4}, {5, 4}}));
  expect_gradients([](const Variables& x) { return linear(x[0], x[1], {x[2]}); },
                   samples({{2, 3, 4}, {5, 4}, {5}}));
  expect_gradients(
      [](const Variables& x) {
        return linear(x[0], x[1], {x[2], x[3], x[2]});
      },
      samples({{3, 4}, {5, 4}, {5}, {5}}));
  expect_gradients([](const Variables& x) { return linear(x[0], x[0]); }, samples({{3, 4}}));
}

TEST(Gradient, OfAddLinear) {
  expect_gradients([](const Variables& x) { return add_linear(x[0], x[1], x[2]); },
                   samples({{3, 5}, {3, 4}, {5, 4}}));
  expect_gradients([](const Variables& x) { return add_linear(x[0], x[0], x[1]); },
                   samples({{3, 4}, {4, 4}}));
  expect_gradients(
      [](const Variables& x) {
        return add_linear(x[0].slice_columns(1, 6), x[1].slice_columns(1, 5), x[2].slice_columns(2, 6));
      },
      samples({{3, 7}, {3, 6}, {5, 6}}));
  // A z that is given away: in its memory where nobody else holds or saves it, else beside it.
  expect_gradients([](const Variables& x) { return square(add_linear(tanh(x[0]) * x[0], x[1], x[2])); },
                   samples({{3, 5}, {3, 4}, {5, 4}}));
  expect_gradients([](const Variables& x) { return square(add_linear(softmax(x[0]), x[1], x[2])); },
                   samples({{3, 5}, {3, 4}, {5, 4}}));
  expect_gradients(
      [](const Variables& x) {
        Variable z = tanh(x[0]);
        const Variable held = z;
        return square(add_linear(std::move(z), x[1], x[2])) * held;
      },
      samples({{3, 5}, {3, 4}, {5, 4}}));
  expect_gradients(
      [](const Variables& x) {
        const Variable all = tanh(x[0]);
        return square(add_linear(all.slice_columns(0, 5).as_part(), all.slice_columns(5, 9).as_part(), x[1]));
      },
      samples({{3, 9}, {5, 4}}));
}

TEST(Gradient, OfBatchedProduct) {
  expect_gradients([](const Variables& x) { return per_row_matmul(x[0], x[1]); }, samples({{3, 8}, {3, 4}}));
  expect_gradients(
      [](const Variables& x) {
        return per_row_matmul(tanh(x[0]), x[0].slice_columns(2, 6)) * x[0].slice_columns(1, 3);
      },
      samples({{3, 8}}));
}

TEST(Gradient, OfMatmul) {
  expect_gradients([](const Variables& x) { return matmul(x[0], x[1]); }, samples({{3, 4}, {4, 5}}));
  expect_gradients([](const Variables& x) { return matmul(x[0], x[0]); }, samples({{4, 4}}));
}

TEST(Gradient, OfSlicesOfSlices) {
  expect_gradients(
      [](const Variables& x) {
        const Variable inner = x[0].slice(1, 4).slice_columns(1, 5).slice(1, 3).slice_columns(1, 3);
        return square(inner) + inner[0] + x[0][2].slice(1, 5).slice(1, 3);
      },
      samples({{5, 6}}));
  expect_gradients([](const Variables& x) { return square(x[0][1].slice(1, 3)[1]) * x[0][0][0]; },
                   samples({{2, 3, 4}}));
}

TEST(Gradient, OfOverlappingSlicesOfOneParent) {
  expect_gradients([](const Variables& x) { return x[0].slice(0, 3) * x[0].slice(1, 4); }, samples({{4, 3}}));
  expect_gradients([](const Variables& x) { return x[0].slice(0, 3) * x[0].slice(0, 3) * x[0].slice(1, 4); },
                   samples({{4, 3}}));
  // Different sizes: row 1 is repeated over rows that hold it.
  expect_gradients([](const Variables& x) { return x[0] * x[0][1]; }, samples({{4, 3}}));
  // Regions that cover the parent only in part, in an order in which the second cuts the first.
  expect_gradients(
      [](const Variables& x) {
        const Variable y = x[0] * x[0];
        return y.slice(1, 3) * y.slice(2, 4) + tanh(y.slice(0, 2)) + exp(y.slice(2, 4)) * y.slice(1, 3);
      },
      samples({{5, 3}}));
  expect_gradients(
      [](const Variables& x) {
        const Variable y = x[0] * x[0];
        const Variable corners = y.slice(0, 2).slice_columns(0, 2) * y.slice(3, 5).slice_columns(4, 6);
        return corners + y.slice(1, 3).slice_columns(1, 3) * y.slice(2, 4).slice_columns(2, 4);
      },
      samples({{5, 6}}));
}

TEST(Gradient, OfRowSlicesOfAWeight) {
  expect_gradients(
      [](const Variables& x) {
        const Variable first = linear(x[0], x[1].slice(0, 2)), second = linear(tanh(x[0]), x[1].slice(2, 5));
        return concat({first, second, linear(x[0] * x[0], x[1])});
      },
      samples({{3, 4}, {5, 4}}));
}

/// A recurrence of `steps` steps over x[0] [B, H] with weight W of step t given by `weight(t)`.
Variable recurrence(Variable h, int steps, const std::function<Variable(int)>& weight) {
  for (int t = 0; t < steps; ++t) h = tanh(add_linear(h * real(0.5), h, weight(t)));
  return h;
}

TEST(Gradient, OfAWeightUsedAtEveryStep) {
  expect_gradients([](const Variables& x) { return recurrence(x[0], 6, [&](int) { return x[1]; }); },
                   samples({{3, 4}, {4, 4}}));
  // Too many rows to wait for the end: some pairs are multiplied at once, others later.
  const std::vector<Tensor> inputs = samples({{300, 2}, {2, 2}}, {-0.5, 0.5});
  expect_gradients(
      [](const Variables& x) {
        const Variable tall = concat({x[0], x[0]});  // [300, 4]
        const Variable both = reshape(tall, {600, 2});
        return mean(tanh(linear(both, x[1]))) + mean(tanh(linear(x[0], x[1])));
      },
      inputs);
}

TEST(Gradient, OfAReusedWeightIsTheSumOfThoseOfSeparateOnes) {
  const int T = 7;
  const std::vector<Tensor> start = samples({{3, 4}, {4, 4}});
  const Tensor shared = Tensor::zeros({4, 4});
  const Variable weight = Variable::leaf(start[1], shared);
  sum(recurrence(Variable(start[0]), T, [&](int) { return weight; })).backward();

  std::vector<Tensor> gradients;
  std::vector<Variable> weights;
  for (int t = 0; t < T; ++t) {
    gradients.push_back(Tensor::zeros({4, 4}));
    weights.push_back(Variable::leaf(clone(start[1]), gradients.back()));
  }
  sum(recurrence(Variable(start[0]), T, [&](int t) { return weights[t]; })).backward();
  for (int64_t i = 0; i < 16; ++i) {
    double expected = 0;
    for (const Tensor& gradient : gradients) expected += gradient.data()[i];
    EXPECT_NEAR(shared.data()[i], expected, 1e-12);
  }
}

}  // namespace
}  // namespace rondo

// The functions on Variables that are not pointwise, each with inputs of some width:
// functions_in_double_test.cpp checks their gradients, functions_on_gpu_test.cpp that both devices agree.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "autograd/cross_entropy.h"
#include "autograd/ctc_loss.h"
#include "autograd/functions.h"
#include "autograd/linear.h"
#include "autograd/operators/arithmetic.h"
#include "autograd/operators/functions.h"
#include "autograd/sequence.h"
#include "nn/regularization.h"
#include "tests/autograd/samples.h"

namespace rondo {

struct FunctionCase {
  std::string name;
  std::vector<Shape> shapes;
  Function f;
  Domain domain{};
};

/// With inputs of about this width, 5 or more.
inline std::vector<FunctionCase> function_cases(int64_t W) {
  using X = const std::vector<Variable>&;
  std::vector<FunctionCase> cases;
  const auto add = [&](std::string name, std::vector<Shape> shapes, Function f, Domain domain = {}) {
    cases.push_back({std::move(name), std::move(shapes), std::move(f), domain});
  };
  const Tokens ids = tokens({3, 0, 3, 3, 1}), pairs = tokens({1, 2, 2}), others = tokens({0, 2, 1});
  const Tokens repeated = tokens({2, 0, 0, 2, 1, 2, 2, 0});  // each of three rows several times
  const Tokens targets = tokens({4, -1, 0, 4});
  const RowMap map({5, -1, 0, 2}, 6);
  const Transpose yes = Transpose::yes;
  const auto inner = [](const Variable& x) { return x.slice_columns(1, x.shape().columns() - 1); };
  const auto halves = [](const Variable& x) {
    const int64_t half = x.shape().columns() / 2;
    return std::pair{x.slice_columns(0, half).as_part(), x.slice_columns(half, 2 * half).as_part()};
  };
  const auto factors = [](const Variable& x) {
    return Tensor::from({2, 0, real(-0.5)}, {3}).to(x.value().device());
  };
  add("embedding", {{5, W}}, [=](X x) { return square(embedding(x[0], ids)); });
  add("embedding used twice and as output weight", {{5, W}},
      [=](X x) { return linear(tanh(embedding(x[0], pairs) * embedding(x[0], others)), x[0]); });
  add("embedding of no symbol", {{5, W}}, [](X x) { return embedding(x[0], tokens({})); });
  add("rows of a slice", {{4, 2, W}}, [](X x) {
    return square(gather_rows(x[0].slice(1, 4), tokens({5, 0, 5, 2})));
  });
  add("rows of a part that is computed, and read besides", {{5, W + 2}}, [=](X x) {
    const Variable y = square(x[0]);
    return gather_rows(inner(y.slice(1, 4)), tokens({2, 0, 2})) * inner(y).slice(0, 3) +
           inner(embedding(x[0].slice(2, 5), tokens({1, 1, 0})));
  });
  add("linear of rows that repeat", {{3, W}, {5, W}, {5}}, [=](X x) {
    const Variable rows = reshape(gather_rows(x[0], repeated), {4, 2, W});
    // Sums of W squares: small ones, so that what they lose to rounding is, too.
    return square(linear(rows * (1.0 / W), x[1], {x[2]})) + linear(tanh(rows), x[1]);
  });
  add("mapped rows", {{4, 2, W}}, [=](X x) {
    const Variable y = map_rows(x[0].slice(1, 4), map);
    return square(y) + map_rows(map_rows(square(y), map.inverse()), map);
  });
  add("mapped rows of a part that is computed, and read besides", {{8, W + 2}}, [=](X x) {
    const Variable y = x[0] * x[0];
    return map_rows(inner(y.slice(1, 7)), map) * inner(y.slice(2, 6));
  });
  add("mapped rows of rows that repeat", {{3, W}}, [=](X x) {
    return square(map_rows(gather_rows(x[0], repeated), RowMap({7, 1, 4, 0, 2, 3}, 8)));
  });
  add("concat", {{2, 3, 2}, {2, 3, W}}, [](X x) { return square(concat({x[0], x[1], x[0]})); });
  add("stack", {{3, W}, {3, W}}, [](X x) { return square(stack({x[0], x[1], x[0]})); });
  add("stack of vectors", {{W}, {W}}, [](X x) { return square(stack({x[0], x[1]})); });
  add("concat_rows", {{3, W}, {2, W}}, [](X x) {
    return square(concat_rows({x[0], x[1], x[0].slice(0, 2)}));
  });
  add("parts of one buffer, of which backward may overwrite those that nobody reads any more", {{4, 2 * W}},
      [=](X x) {
        const auto [a, b] = halves(tanh(x[0]));
        return sigmoid(a) * (a * b);
      });
  add("parts of a part whose whole another operator has saved", {{4, 2 * W}}, [=](X x) {
    Variable part = tanh(x[0]).as_part();
    const Variable first = sigmoid(part);
    auto [a, b] = halves(part);
    part = {};
    const Variable second = a * b;
    a = b = {};
    return concat({first, second});
  });
  add("reshape", {{3, 2 * W}, {W}}, [=](X x) { return square(reshape(x[0], {2, 3, W})) * x[1]; });
  add("reshape of rows of the same width", {{6, W}}, [=](X x) { return square(reshape(x[0], {2, 3, W})); });
  add("reshape of columns", {{3, W + 2}}, [=](X x) { return square(reshape(inner(x[0]), {3 * W})); });
  add("sum and mean", {{3, W + 2}},
      [=](X x) { return square(sum(x[0])) + mean(x[0] * x[0]) + sum(inner(x[0])); });
  add("softmax", {{2, 2, W}}, [](X x) { return softmax(x[0]); });
  add("softmax of columns", {{3, W + 2}}, [=](X x) { return softmax(inner(x[0])); });
  add("log_softmax", {{3, W}}, [=](X x) { return log_softmax(x[0]); });
  add("log_softmax of columns", {{3, W + 2}}, [=](X x) { return log_softmax(inner(x[0])); });
  add("softmax of the first elements", {{3, W}}, [](X x) { return softmax(x[0], {3, 0, 5}); });
  add("softmax of the first elements of columns", {{2, 3, W + 2}}, [=](X x) {
    return softmax(inner(x[0]), {4, 1});
  });
  add("cross_entropy", {{4, W}, {W}},
      [=](X x) { return cross_entropy(x[0] * x[1], targets) + cross_entropy(x[0], targets); });
  add("cross_entropy of logits that are read twice", {{4, W}}, [=](X x) {
    const Variable logits = x[0] * real(2);
    const Variable once_more = cross_entropy(logits, tokens({1, 2, 3, 4}));
    return sum(cross_entropy(logits, targets)) + sum(once_more) + sum(tanh(logits));
  });
  add("linear_cross_entropy", {{4, 3}, {W, 3}},
      [=](X x) { return linear_cross_entropy(x[0], x[1], {}, targets).total; });
  add("linear_cross_entropy, smoothed", {{4, 3}, {W, 3}, {W}},
      [=](X x) { return square(linear_cross_entropy(x[0], x[1], x[2], targets, 0.3).total / 4); });
  add("linear_cross_entropy of inputs that are computed, views, and used twice", {{2, 2, W}, {9, W + 2}, {9}},
      [=](X x) {
        const Variable weight = inner(x[1].slice(1, 9)), rows = tanh(x[0]);
        return linear_cross_entropy(rows, weight, x[2].slice(1, 9), targets).total * mean(weight) +
               linear_cross_entropy(rows * rows, tanh(weight), {}, targets).total + mean(rows);
      });
  const CtcTargets labels({{1, 2, 2}, {3, 1}, {}, {4, 4}, {1, 1, 1}}, {7, 5, 3, 2, 0});  // two do not fit
  add("ctc_loss", {{7, 5, W}}, [=](X x) { return ctc_loss(x[0], labels); });
  add("ctc_loss of columns", {{9, 5, W + 2}}, [=](X x) { return ctc_loss(inner(x[0].slice(1, 8)), labels); });
  add("scale_rows", {{3, W}},
      [=](X x) { return scale_rows(square(x[0]), factors(x[0])) + scale_rows(x[0], factors(x[0])); });
  add("scale_rows of columns", {{3, W + 2}}, [=](X x) { return scale_rows(inner(x[0]), factors(x[0])); });
  add("dropout of nothing", {{4, W}},
      [](X x) { return dropout(square(x[0]), 0, {.seed = 3}, {.batch = 4, .whole = 4}); });
  add("dropout of a part of a batch", {{4, W}},
      [](X x) { return dropout(square(x[0]), 0.4, {.seed = 3}, {.batch = 2, .first = 1, .whole = 5}); });
  add("dropout whose gradient is added to another", {{5, W}},
      [](X x) { return x[0] * x[0] + dropout(x[0], 0.4, {.seed = 3}, {}); });
  add("penalties on an output that others use as well, before and after a mask", {{4, 3, W}, {4, 3, W}},
      [](X x) {
        const Variable hidden = tanh(x[0]), dropped = hidden * x[1];
        return mean(dropped) + activation_regularization(dropped) * real(2) +
               temporal_regularization(hidden) * real(3) + mean(square(hidden));
      });
  add("penalties on what nothing else keeps", {{4, 3, W}, {4, 3, W}},
      [](X x) { return activation_regularization(x[0] + x[1]) + temporal_regularization(x[0] * x[1]); });
  add("a penalty on the changes of one step", {{1, 3, W}},
      [](X x) { return temporal_regularization(x[0]) + sum(x[0]); });
  add("linear", {{3, 4}, {W, 4}}, [](X x) { return linear(x[0], x[1]); });
  add("linear with several biases", {{2, 3, 4}, {W, 4}, {W}, {W}}, [](X x) {
    return linear(x[0], x[1], {x[2], x[3], x[2]});
  });
  add("linear of no rows", {{0, 4}, {W, 4}, {W}}, [](X x) { return linear(x[0], x[1], {x[2]}); });
  add("linear of one value twice", {{3, W}, {3}}, [](X x) { return linear(x[0], x[0], {x[1]}); });
  add("linear by slices of a weight", {{3, W}, {5, W}}, [](X x) {
    const Variable first = linear(x[0], x[1].slice(0, 2)), second = linear(tanh(x[0]), x[1].slice(2, 5));
    return concat({first, second, linear(x[0] * x[0], x[1])});
  });
  add("add_linear", {{3, W}, {3, 4}, {W, 4}}, [](X x) { return add_linear(x[0], x[1], x[2]); });
  add("add_linear of one value twice", {{3, 4}, {4, 4}}, [](X x) { return add_linear(x[0], x[0], x[1]); });
  add("add_linear of columns", {{3, W + 2}, {3, 6}, {W, 6}},
      [=](X x) { return add_linear(inner(x[0]), inner(x[1]), inner(x[2])); });
  add("add_linear in the memory of z", {{3, W}, {3, 4}, {W, 4}},
      [](X x) { return square(add_linear(tanh(x[0]) * x[0], x[1], x[2])); });
  add("add_linear beside a z that is saved", {{3, W}, {3, 4}, {W, 4}},
      [](X x) { return square(add_linear(softmax(x[0]), x[1], x[2])); });
  add("add_linear beside a z that is held", {{3, W}, {3, 4}, {W, 4}}, [](X x) {
    Variable z = tanh(x[0]);
    const Variable held = z;
    return square(add_linear(std::move(z), x[1], x[2])) * held;
  });
  add("add_linear of parts of one buffer", {{3, 10}, {5, 5}}, [=](X x) {
    const auto [z, h] = halves(tanh(x[0]));
    return square(add_linear(z, h, x[1]));
  });
  add("matmul", {{3, 4}, {4, W}}, [](X x) { return matmul(x[0], x[1]); });
  add("matmul of one value twice", {{4, 4}}, [](X x) { return matmul(x[0], x[0]); });
  add("per_row_matmul", {{3, 4 * W}, {3, 4}}, [](X x) { return per_row_matmul(x[0], x[1]); });
  add("per_row_matmul of one value twice", {{3, 8}},
      [](X x) { return per_row_matmul(tanh(x[0]), x[0].slice_columns(2, 6)) * x[0].slice_columns(1, 3); });
  add("batched_matmul", {{2, 3, 4}, {2, 4, W}}, [](X x) { return square(batched_matmul(x[0], x[1])); });
  add("batched_matmul, transposed", {{2, 3, 4}, {2, W, 4}},
      [=](X x) { return square(batched_matmul(x[0], x[1], yes)); });
  add("batched_matmul of nothing", {{0, 2, 3}, {0, 3, W}}, [](X x) { return batched_matmul(x[0], x[1]); });
  add("batched_matmul of views, one value as both factors, which is used again", {{2, 3, W + 2}}, [=](X x) {
    const Variable part = inner(x[0]);
    return batched_matmul(softmax(batched_matmul(part, part, yes) * real(0.01)), part) * part;
  });
  add("slices of slices", {{5, W + 4}}, [=](X x) {
    const Variable y = inner(inner(x[0].slice(1, 4)).slice(1, 3));
    return square(y) + y[0] + inner(inner(x[0]))[2];
  });
  add("slices of leading dimensions", {{2, 3, W}},
      [](X x) { return square(x[0][1].slice(1, 3)[1]) * x[0][0][0]; });
  add("overlapping slices", {{4, W}},
      [](X x) { return x[0].slice(0, 3) * x[0].slice(0, 3) * x[0].slice(1, 4); });
  add("a row that is repeated over rows that hold it", {{4, W}}, [](X x) { return x[0] * x[0][1]; });
  add("regions that cover the parent in part, of which the second cuts the first", {{5, W}}, [](X x) {
    const Variable y = x[0] * x[0];
    return y.slice(1, 3) * y.slice(2, 4) + tanh(y.slice(0, 2)) + exp(y.slice(2, 4)) * y.slice(1, 3);
  });
  add("regions at corners", {{5, 6}}, [](X x) {
    const Variable y = x[0] * x[0];
    const Variable corners = y.slice(0, 2).slice_columns(0, 2) * y.slice(3, 5).slice_columns(4, 6);
    return corners + y.slice(1, 3).slice_columns(1, 3) * y.slice(2, 4).slice_columns(2, 4);
  });
  add("a weight used at every step", {{3, 4}, {6, 3, 4}, {8, 4}},
      [](X x) {
        Variable h = x[0];
        for (int t = 0; t < 6; ++t)
          h = tanh(add_linear(x[1][t], h, x[2].slice(0, 4))) + tanh(linear(h, x[2].slice(4, 8)));
        return h;
      },
      {-0.5, 0.5});
  add("a weight of which some pairs are multiplied at once, others later", {{300, 2}, {2, 2}},
      [](X x) {
        const Variable both = reshape(concat({x[0], x[0]}), {600, 2});
        return mean(tanh(linear(both, x[1]))) + mean(tanh(linear(x[0], x[1])));
      },
      {-0.5, 0.5});
  add("batch_normalization", {{7, W}, {W}, {W}},
      [](X x) { return batch_normalization(x[0], column_moments(x[0]), x[1], x[2]); });
  add("batch_normalization with a matrix as beta", {{7, W}, {W}, {7, W}},
      [](X x) { return batch_normalization(x[0], column_moments(x[0]), x[1], x[2]); });
  add("one of the moments alone", {{7, W + 2}},
      [=](X x) { return column_moments(inner(x[0])).mean * column_moments(inner(x[0] * x[0])).variance; });
  add("layer_norm", {{3, 2, W + 2}, {W}, {W}}, [=](X x) { return layer_norm(inner(x[0]), x[1], x[2]); });
  add("transpose_first_two", {{3, 4, W + 2}, {W}},
      [=](X x) { return square(transpose_first_two(inner(x[0]))) * x[1]; });
  add("transpose_first_two of a matrix", {{3, W + 2}}, [=](X x) {
    return square(transpose_first_two(x[0])).slice(1, 3) + transpose_first_two(inner(x[0])).slice(0, 2);
  });
  add("repeat", {{2, W + 2}, {3, 2, W}}, [=](X x) { return repeat(inner(square(x[0])), 3) * x[1]; });
  add("repeat of a vector", {{W}, {3, W}}, [](X x) { return repeat(x[0], 3) * x[1]; });
  add("sum_over_first", {{3, 2, W + 2}}, [=](X x) { return square(sum_over_first(inner(x[0]))); });
  add("max_over_first", {{4, 3, W}}, [](X x) { return square(max_over_first(x[0], {4, 1, 2})); });
  add("max_over_first of columns", {{3, 2, W + 2}, {2, W}},
      [=](X x) { return max_over_first(inner(x[0])) * x[1]; });
  return cases;
}

}  // namespace rondo

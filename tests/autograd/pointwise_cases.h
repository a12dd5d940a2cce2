// A pointwise operator in each way in which backward may meet it: operators_in_double_test.cpp checks its
// gradients, operators_on_gpu_test.cpp that both devices agree.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "autograd/functions.h"
#include "autograd/operators.h"
#include "tests/autograd/samples.h"

namespace rondo {

struct PointwiseCase {
  std::string name;
  Function f;
  std::vector<Tensor> inputs;
};

/// Steps with 3 rows for each of the first step's, some of which end early.
inline StepRows steps_of(int64_t rows) { return {rows, rows, rows - 1, 1}; }

/// With matrices of this shape.
inline std::vector<PointwiseCase> pointwise_cases(const PointwiseOperator& op, const Shape& matrix) {
  using Variables = std::vector<Variable>;
  const auto all = [&op](const Variables& x) { return apply(op, op.example.data(), x); };
  const auto outputs = [all](const Variables& x) { return concat(all(x)); };
  const int64_t rows = matrix[0], columns = matrix[1];
  const std::vector<Shape> matrices(static_cast<size_t>(op.inputs), matrix);
  const auto inputs = samples(matrices, op.domain);
  std::vector<PointwiseCase> cases = {{"all outputs at once", outputs, inputs}};
  // The others' gradients are zero, and not there.
  for (size_t k = 0; k < static_cast<size_t>(op.outputs); ++k)
    cases.push_back({fmt::format("output {}", k), [=](const Variables& x) { return all(x)[k]; }, inputs});
  // Values that nobody else holds: their gradients overwrite them.
  cases.push_back({"inputs that are computed",
                   [=](Variables x) {
                     for (Variable& it : x) it = it * real(1);
                     return outputs(x);
                   },
                   inputs});
  cases.push_back({"blocks of columns",
                   [=](const Variables& wide) {
                     Variables x;
                     for (size_t j = 0; j < inputs.size(); ++j) {
                       const auto begin = static_cast<int64_t>(j) * columns;
                       x.push_back(wide[0].slice_columns(begin, begin + columns));
                     }
                     return outputs(x);
                   },
                   samples({{rows, op.inputs * columns + 1}}, op.domain)});
  for (size_t j = 0; j < inputs.size() && inputs.size() > 1; ++j) {
    const auto add = [&](const std::string& name, Function f, const std::vector<Tensor>& given) {
      cases.push_back({fmt::format("input {} {}", j, name), std::move(f), given});
    };
    std::vector<Shape> shapes = matrices;
    shapes[j] = {columns};
    add("repeated for all rows", outputs, samples(shapes, op.domain));
    std::vector<Tensor> others = inputs;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(j));
    add(
        "constant",
        [=](Variables x) {
          const Variable constant(inputs[j].to(x[0].value().device()));
          x.insert(x.begin() + static_cast<std::ptrdiff_t>(j), constant);
          return outputs(x);
        },
        others);
    if (j == 0) continue;
    // Ties, and gradients that come together.
    add(
        "and the first are one variable",
        [=](Variables x) {
          x[j] = x[0];
          return outputs(x);
        },
        inputs);
    shapes = matrices;
    shapes.push_back({rows, columns + 2});
    add(
        "and the first are overlapping blocks of one variable",
        [=](Variables x) {
          const Variable wide = x.back();
          x.pop_back();
          x[0] = wide.slice_columns(0, columns);
          x[j] = wide.slice_columns(2, 2 + columns);
          return outputs(x);
        },
        samples(shapes, op.domain));
  }
  if (op.state >= 0) {
    const StepRows steps = steps_of(rows);
    const auto over_time = [&op, steps](const Variables& x) {
      return concat(apply(op, op.example.data(), x, {}, steps));
    };
    std::vector<Shape> shapes(inputs.size(), Shape{3 * rows, columns});
    shapes[static_cast<size_t>(op.state)] = matrix;
    cases.push_back({"over time", over_time, samples(shapes, op.domain)});
    cases.push_back({"over time, of inputs that are computed",
                     [=](Variables x) {
                       for (Variable& it : x) it = it * real(1);
                       return over_time(x);
                     },
                     samples(shapes, op.domain)});
    for (size_t j = 0; j < inputs.size(); ++j) {
      if (static_cast<int>(j) == op.state) continue;
      std::vector<Shape> with_vector = shapes;
      with_vector[j] = {columns};
      cases.push_back({fmt::format("over time, input {} repeated for all rows", j), over_time,
                       samples(with_vector, op.domain)});
    }
  }
  return cases;
}

/// Of all operators on the list.
inline std::vector<std::string> names_of_operators() {
  std::vector<std::string> names;
  for (const PointwiseOperator& op : pointwise_operators()) names.push_back(op.name);
  return names;
}

}  // namespace rondo

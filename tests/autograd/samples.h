// Inputs for gradient checks, and the check as a test assertion.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "autograd/gradient_check.h"
#include "autograd/sequence.h"
#include "tensor/pointwise.h"

namespace rondo {

/// Tensors of the given shapes whose elements are all different: the shuffled middles of equal parts of the
/// domain, in number a multiple of 8. So no two elements tie, and none lies on a kink at the domain's middle
/// or quarters.
inline std::vector<Tensor> samples(const std::vector<Shape>& shapes, Domain domain = {}) {
  int64_t count = 0;
  for (const Shape& shape : shapes) count += shape.size();
  count = (count + 7) / 8 * 8;
  std::vector<real> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<real>(domain.low + (domain.high - domain.low) * (i + 0.5) / count));
  std::mt19937 random(7);
  std::shuffle(values.begin(), values.end(), random);
  std::vector<Tensor> tensors;
  auto next = values.begin();
  for (const Shape& shape : shapes) {
    tensors.push_back(Tensor::from({next, next + shape.size()}, shape));
    next += shape.size();
  }
  return tensors;
}

/// Lengths of sequences [T, B] with the lists that are staged for a GPU: all rows of all steps are computed.
inline Lengths rectangle(const std::vector<int64_t>& lengths, int64_t T) {
  std::vector<Tokens> lists;
  for (std::vector<int32_t>& it : staged_lists(lengths, T)) lists.push_back(tokens(std::move(it)));
  return {lengths, lists, 0};
}

using Function = std::function<Variable(const std::vector<Variable>&)>;

inline void expect_gradients(const Function& f, const std::vector<Tensor>& inputs) {
  const GradientCheck result = check_gradients(f, inputs, 1e-6);
  EXPECT_TRUE(result.passed) << result.worst;
}

}  // namespace rondo

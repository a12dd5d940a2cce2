// Reaching a model's parameters by name, and the smallest recurrent model, for tests.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>

#include "nn/recurrent/recurrent_stack.h"

namespace rondo {

inline const Segment& segment_of(const Module& model, const std::string& name) {
  for (const Segment& segment : model.segments())
    if (segment.name == name) return segment;
  throw std::runtime_error("no parameter " + name);
}
inline Tensor value_of(const Module& model, const std::string& name) {
  return part_of(model.values(), segment_of(model, name));
}
inline Tensor gradient_of(const Module& model, const std::string& name) {
  return part_of(model.gradients(), segment_of(model, name));
}
/// Where element i, in order, lies behind data().
inline int64_t place_of(const Tensor& x, int64_t i) {
  return i / x.columns() * x.row_stride() + i % x.columns();
}
inline bool has_parameter(const Module& model, const std::string& name) {
  return std::ranges::count(model.segments(), name, &Segment::name) > 0;
}

/// A recurrent stack and nothing else.
struct StackAlone : Module {
  explicit StackAlone(const StackOptions& options) : stack(*this, "rnn", options) { finalize(1); }
  StackAlone(const std::string& cell, int64_t input, int64_t hidden)
      : StackAlone({.cell = cell, .layers = {pytorch_cell(input, hidden)}}) {}
  RecurrentStack stack;
};

}  // namespace rondo

// Reaching a model's parameters by name, for tests.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "nn/module.h"

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
  for (const Segment& segment : model.segments())
    if (segment.name == name) return true;
  return false;
}

}  // namespace rondo

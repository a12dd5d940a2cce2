// Where a named tensor lies in a flat buffer: all parameters of a model are one allocation, and so are all
// gradients and each part of an optimizer's state, with the same layout on every device.
#pragma once

#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace rondo {

struct Segment {
  std::string name;                    // full name, as in files
  std::vector<std::string> aliases{};  // other names of the same values: tied parameters
  Shape shape;
  int64_t offset = 0, row_stride = 0;  // in elements
};

/// A segment of a buffer, as a view.
inline Tensor part_of(const Tensor& buffer, const Segment& segment) {
  return buffer.as_strided(segment.offset, segment.shape, segment.row_stride);
}

}  // namespace rondo

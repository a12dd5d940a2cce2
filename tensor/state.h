// Saving and loading an object's state: numbers and tensors under names, which each object writes and reads
// itself. The file format is in lm/training/checkpoint.h.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace rondo {

/// Where a named tensor lies in a flat buffer: all parameters of a model are one allocation, and so are all
/// gradients and each part of an optimizer's state, with the same layout on every device.
struct Segment {
  std::string name;                    // full name, as in files
  std::vector<std::string> aliases{};  // other names of the same values: tied parameters
  Shape shape;
  int64_t offset = 0, row_stride = 0;  // in elements
  int64_t buffer_size = 0;             // of the whole buffer
};

/// A segment of a buffer, as a view. Throws Error for a buffer of another size: another model's.
inline Tensor part_of(const Tensor& buffer, const Segment& segment) {
  check(buffer.size() == segment.buffer_size, "[{}] lies in a buffer of {} numbers, not in one of {}",
        segment.name, segment.buffer_size, buffer.shape());
  return buffer.as_strided(segment.offset, segment.shape, segment.row_stride);
}

class StateWriter {
 public:
  virtual ~StateWriter() = default;
  virtual void add(const std::string& name, const Tensor& tensor) = 0;
  virtual void add(const std::string& name, double number) = 0;
  virtual void add(const std::string& name, int64_t number) = 0;
  /// A flat buffer, segment by segment as NAME.SEGMENT, so that the layout is not part of the format.
  void add_segments(const std::string& name, const Tensor& buffer, const std::vector<Segment>& segments) {
    for (const Segment& segment : segments) add(name + "." + segment.name, part_of(buffer, segment));
  }
};

/// All reads throw InputError, naming the file, if a value is missing or cannot have been saved: of another
/// shape, not finite, below `least` or above `most`.
class StateReader {
 public:
  virtual ~StateReader() = default;
  /// Into a tensor of the saved shape.
  virtual void read(const std::string& name, const Tensor& to,
                    real least = std::numeric_limits<real>::lowest()) const = 0;
  virtual void read(const std::string& name, double& number,
                    double least = std::numeric_limits<double>::lowest()) const = 0;
  /// By default a count, which will be increased and must not overflow.
  virtual void read(const std::string& name, int64_t& number, int64_t least = 0,
                    int64_t most = int64_t{1} << 53) const = 0;
  void read_segments(const std::string& name, const Tensor& buffer, const std::vector<Segment>& segments,
                     real least = std::numeric_limits<real>::lowest()) const {
    for (const Segment& segment : segments) read(name + "." + segment.name, part_of(buffer, segment), least);
  }
};

}  // namespace rondo

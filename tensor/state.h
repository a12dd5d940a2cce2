// Saving and loading an object's state: numbers and tensors under names, which each object writes and reads
// itself. The file format is in lm/training/checkpoint.h.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tensor/segment.h"

namespace rondo {

class StateWriter {
 public:
  virtual ~StateWriter() = default;
  virtual void add(const std::string& name, const Tensor& tensor) = 0;
  virtual void add(const std::string& name, double number) = 0;
  virtual void add(const std::string& name, int64_t number) = 0;
  /// A flat buffer, segment by segment as NAME.SEGMENT, so that the layout is not part of the format.
  void add_segments(const std::string& name, const Tensor& buffer, const std::vector<Segment>& segments);
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
                     real least = std::numeric_limits<real>::lowest()) const;
};

}  // namespace rondo

// Saving and loading flat buffers: see state.h.
#include "tensor/state.h"

namespace rondo {

void StateWriter::add_segments(const std::string& name, const Tensor& buffer,
                               const std::vector<Segment>& segments) {
  for (const Segment& segment : segments) add(name + "." + segment.name, part_of(buffer, segment));
}

void StateReader::read_segments(const std::string& name, const Tensor& buffer,
                                const std::vector<Segment>& segments, real least) const {
  for (const Segment& segment : segments) read(name + "." + segment.name, part_of(buffer, segment), least);
}

}  // namespace rondo

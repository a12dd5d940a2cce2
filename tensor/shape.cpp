// The text of a shape. Out of line, because nearly every file includes shape.h, and fmt::format_to() there
// compiles most of {fmt} into each of them: two seconds a file.
#include "tensor/shape.h"

namespace rondo {

std::string Shape::to_string() const {
  std::string text = "[";
  for (int i = 0; i < dimensions_; ++i) text += (i ? ", " : "") + std::to_string(extents_[i]);
  return text + "]";
}

}  // namespace rondo

fmt::format_context::iterator fmt::formatter<rondo::Shape>::format(const rondo::Shape& shape,
                                                                   format_context& context) const {
  return fmt::format_to(context.out(), "{}", shape.to_string());
}

// For sources of this library only: ids and positions are signed, indices of the standard library are not.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rondo::detail {

/// A symbol, a state or a position as an index; it is not negative.
inline std::size_t index_of(std::int64_t it) { return static_cast<std::size_t>(it); }

}  // namespace rondo::detail

// What is computed for all steps of a layer at once, in pieces of about ten steps: so another layer can begin
// with the first steps while this one computes the last, if the graph allows it (GraphOrder in
// cuda/runtime.h). A piece is a launch of its own; sums are the same, but products may add in another order.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cuda/runtime.h"
#include "tensor/backend.h"

namespace rondo {
namespace detail {
inline int64_t rows_of_sequence = 0, rows_of_piece = 0;
}

/// A layer computes T steps of B rows: from now on what has T * B rows is that of all steps.
inline void begin_sequence(int64_t T, int64_t B) {
  constexpr int64_t steps_of_piece = 10;
  const int64_t pieces = std::max<int64_t>(1, T / steps_of_piece);
  detail::rows_of_sequence = T * B;
  detail::rows_of_piece = (T + pieces - 1) / pieces * B;
}

inline bool computes_in_pieces(Device device) {
  return device == Device::cuda && cuda::graph_order() == cuda::GraphOrder::pieces;
}
/// Calls compute(begin, end) for the pieces of `rows` rows, if there are several; the result is whether there
/// are.
template <class Compute>
bool in_pieces(Device device, int64_t rows, const Compute& compute) {
  const int64_t piece = detail::rows_of_piece;
  if (!computes_in_pieces(device) || rows != detail::rows_of_sequence || rows <= piece) return false;
  for (int64_t begin = 0; begin < rows; begin += piece) compute(begin, std::min(begin + piece, rows));
  return true;
}

}  // namespace rondo

// The kernel of dropout masks.
#pragma once

#include "tensor/kernel.h"
#include "tensor/random.h"

namespace rondo {

/// Each element becomes 0 if its random word is below the threshold, else `kept`.
struct DropoutMask {
  static constexpr auto visit = Visit::rows;
  RandomKey key;
  uint32_t threshold;
  real kept;
  BatchSlice slice;
  Operand mask;

  HD void operator()(auto row, int64_t r) const {
    // The row's number in the whole batch, whose elements are counted.
    const uint64_t logical_row = r / slice.batch * slice.whole + slice.first + r % slice.batch;
    // Not `?:`: its branch would be unpredictable.
    const auto value = [=, this](uint32_t word) { return static_cast<real>(word >= threshold) * kept; };
    row.map_words(row_of(mask, r), value, key.now(), logical_row * row.columns);
  }
};

using DropoutKernels = KernelList<DropoutMask>;

}  // namespace rondo

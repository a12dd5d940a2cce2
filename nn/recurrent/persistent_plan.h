// How the persistent kernel (nn/recurrent/persistent_layer.h) divides a cell among the blocks of a GPU: each
// block owns some units of every stage, for the whole batch, and keeps what its products read of the
// recurrent weights in its shared memory. Plain numbers, so that bench/gpu_registers.py can print them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace rondo {

/// Rows and columns of a tile of tensor cores; terms of a sum are padded to as many.
constexpr int64_t persistent_tile = 16;
constexpr int64_t padded(int64_t count, int64_t multiple = persistent_tile) {
  return (count + multiple - 1) / multiple * multiple;
}
/// The numbers from one row of a block's part of a weight to the next: rows begin at multiples of 16 bytes. A
/// tile reads past the end of such a row, into the next one; behind the last part there is room for that.
constexpr int64_t resident_stride(int64_t columns, int64_t bytes_per_number) {
  return padded(columns, 16 / bytes_per_number);
}

/// What the kernel may have of a GPU: one block on each multiprocessor, with so much shared memory.
struct PersistentLimits {
  int64_t multiprocessors = 132, shared_bytes = int64_t{227} << 10;  // an H100
};

/// U [gates width, inner] of a stage.
struct StageShape {
  int64_t gates, width, inner;
};

struct PersistentPlan {
  int64_t blocks = 0;
  std::vector<int64_t> units;                     // of each stage that a block owns, the last one fewer
  int64_t forward_bytes = 0, backward_bytes = 0;  // of shared memory for each block

  int64_t bytes() const { return std::max(forward_bytes, backward_bytes); }
};

/// On a GPU with so many multiprocessors, one block for each of them at most. The weights are kept in numbers
/// of so many bytes: 2 in bf16.
inline PersistentPlan persistent_plan(const std::vector<StageShape>& stages, int64_t multiprocessors,
                                      int64_t bytes_per_number) {
  constexpr int64_t fewest = 4;  // units: with fewer, most of a tile would be empty
  PersistentPlan plan;
  for (const StageShape& it : stages) {
    plan.units.push_back(std::max((it.width + multiprocessors - 1) / multiprocessors, fewest));
    plan.blocks = std::max(plan.blocks, (it.width + plan.units.back() - 1) / plan.units.back());
  }
  int64_t forward = persistent_tile, backward = persistent_tile;  // numbers
  for (size_t i = 0; i < stages.size(); ++i) {
    const StageShape& it = stages[i];
    // Backward, a block sums over all gates for the units of what the stage reads: of the stage before, or h.
    const int64_t read_units = plan.units[(i + stages.size() - 1) % stages.size()];
    forward += padded(it.inner) * resident_stride(it.gates * plan.units[i], bytes_per_number);
    backward += padded(it.gates * it.width) * resident_stride(read_units, bytes_per_number);
  }
  plan.forward_bytes = forward * bytes_per_number;
  plan.backward_bytes = backward * bytes_per_number;
  return plan;
}

}  // namespace rondo

// Memory for tensors: blocks are kept in free lists by size class and handed out again, so that a steady
// training loop asks the system for nothing. Blocks are aligned to 64 bytes and not initialised.
#pragma once

#include <cstddef>

#include "tensor/backend.h"

namespace rondo {

/// A block of at least `bytes`; throws Error with the size when the system has no more.
void* allocate(Device device, size_t bytes);
/// Gives a block of `allocate` back to its free list.
void release(Device device, void* block, size_t bytes);

/// While this lives, blocks come from a memory of its own, the step's, to which they go back. What a graph
/// has recorded (cuda/runtime.h) stays valid, for nobody but further steps is ever given its memory.
class StepMemory {
 public:
  explicit StepMemory(Device device);
  ~StepMemory();
  StepMemory(const StepMemory&) = delete;
  StepMemory& operator=(const StepMemory&) = delete;

 private:
  Device device_;
};

struct MemoryStatistics {
  size_t bytes_in_use = 0;
  size_t peak_bytes = 0;          // the most that was in use at once since the last reset
  size_t system_allocations = 0;  // how often the system was asked
};
MemoryStatistics memory_statistics(Device device);
void reset_peak_bytes(Device device);

}  // namespace rondo

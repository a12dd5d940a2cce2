// Memory for tensors: blocks are kept in free lists by size class and reused, so that a steady
// training loop requests no memory from the system. Blocks are aligned to 64 bytes and not initialised. Also
// tells how much memory the machine has left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "tensor/backend.h"
#include "tensor/error.h"

namespace rondo {

/// What allocate() throws if a device has no memory left.
class OutOfMemory : public Error {
 public:
  using Error::Error;
};

/// A block of at least `bytes`; throws OutOfMemory with the size if the system has no memory left.
void* allocate(Device device, size_t bytes);
/// Returns a block of `allocate` to its free list.
void release(Device device, void* block, size_t bytes);

/// While it exists, blocks come from a separate memory reserved for training steps. So the addresses in a
/// recorded graph (cuda/runtime.h) stay valid: only later steps use this memory, unless the system had no
/// other left (returns()).
class StepMemory {
 public:
  explicit StepMemory(Device device);
  ~StepMemory();
  StepMemory(const StepMemory&) = delete;
  StepMemory& operator=(const StepMemory&) = delete;

  /// How many blocks of it were returned to the system so far, because it had no other memory left. After
  /// another return, no graph that was recorded before may be launched.
  static int64_t returns(Device device);
  /// Whether one of the device exists now.
  static bool exists(Device device);

 private:
  Device device_;
};

struct MemoryStatistics {
  size_t bytes_in_use = 0;
  size_t peak_bytes = 0;          // the maximum in use since the last reset
  size_t system_allocations = 0;  // requests to the system
};
MemoryStatistics memory_statistics(Device device);
void reset_peak_bytes(Device device);

/// Bytes that a new workload can use without swapping, as the kernel estimates them (MemAvailable of
/// /proc/meminfo), limited by the container and `ulimit -v`; none if the system does not say.
std::optional<int64_t> available_memory();
/// The same for a device: for a GPU, what its driver has left.
std::optional<int64_t> available_memory(Device device);

/// Bytes of address space that `ulimit -v` leaves this process; none without a limit.
std::optional<int64_t> left_of_address_space();

/// Bytes as text: "812 MiB", "3.2 GiB".
std::string bytes_text(int64_t bytes);

}  // namespace rondo

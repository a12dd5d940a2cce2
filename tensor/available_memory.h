// How much memory the machine has left. What the program itself uses is counted in tensor/allocator.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tensor/backend.h"

namespace rondo {

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

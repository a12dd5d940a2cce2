// Memory before it is asked for: what the machine has left. Deliberately not what a program holds already:
// tensor/allocator.h counts that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tensor/backend.h"

namespace rondo {

/// Bytes that a new workload can have without swapping, as the kernel estimates them (MemAvailable of
/// /proc/meminfo), or fewer where the container or `ulimit -v` lets it have fewer; none where nobody tells.
std::optional<int64_t> available_memory();
/// The same of a device: of a GPU what its driver has left.
std::optional<int64_t> available_memory(Device device);

/// Bytes of addresses that `ulimit -v` leaves this process; none without a limit.
std::optional<int64_t> left_of_address_space();

/// Bytes for a reader: "812 MiB", "3.2 GiB".
std::string bytes_text(int64_t bytes);

}  // namespace rondo

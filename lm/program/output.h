// Standard output: JSON, and a check that it was written.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace rondo {

/// The object of --json, indented; what is not UTF-8 is U+FFFD.
void print_json(const nlohmann::ordered_json& json);

/// Flushes standard output. Throws Stopped, as for SIGPIPE, if it is a closed pipe and the signal is ignored;
/// Error if it cannot be written.
void flush_output();

}  // namespace rondo

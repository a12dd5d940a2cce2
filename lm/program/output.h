// Standard output, with a check that it was written.
#pragma once

namespace rondo {

/// Flushes standard output. Throws Stopped, as for SIGPIPE, if it is a closed pipe and the signal is ignored;
/// Error if it cannot be written.
void flush_output();

}  // namespace rondo

// Standard output, and what became of it.
#pragma once

namespace rondo {

/// Brings to standard output what was printed. Stopped, as by SIGPIPE, if that is a pipe that nobody reads
/// any more and the signal is ignored; Error where it cannot be written.
void flush_output();

}  // namespace rondo

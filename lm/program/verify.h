// `lm info RUN --verify`: whether the files of a run are undamaged, and whether the text is still the one
// that it was trained on. It finds damage, but not files swapped between runs or edited settings. It reads
// everything and changes nothing.
#pragma once

#include <string>

namespace rondo {

/// Prints a line for each file, or one JSON object. Returns 0, or 2 if a file is broken, or missing although
/// other files show that it existed. InputError if there is no run.
int verify(const std::string& run, bool json);

}  // namespace rondo

// `lm info RUN --verify`: whether the files of a run are whole, and whether the text is still the one that it
// was trained on. It finds damage, not files that were swapped between runs, nor settings that were edited.
// It deliberately reads everything and changes nothing.
#pragma once

#include <string>

namespace rondo {

/// Prints what was found, a line for each file, or one JSON object. Returns 0, or 2 if something is broken,
/// or missing though the rest says that it was there. InputError if there is no run.
int verify(const std::string& run, bool json);

}  // namespace rondo

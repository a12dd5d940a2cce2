// `lm embed`: sentences from standard input, their vectors to standard output or to a NumPy file, line by
// line.
#pragma once

#include <optional>
#include <string>

#include "lm/program/compute.h"

namespace rondo {

struct EmbedOptions {
  std::string run;
  std::string output;   // a .npy file; empty: standard output
  std::string vectors;  // word vectors for words that the run does not know; empty: these are <unk>
  std::optional<int> threads;
  Device device = Device::cpu;
  std::optional<Precision> precision{};
};

/// One vector for each line of input, in its order: numbers separated by spaces, or a row of the file. An
/// empty line is an empty sentence, which has a vector, too. Returns 0. InputError for a line that cannot be
/// read; those before it are answered, except into a file.
int embed(const EmbedOptions& options);

}  // namespace rondo

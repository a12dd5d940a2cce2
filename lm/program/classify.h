// `lm classify`: sentences from standard input, their most probable classes to standard output, line by line.
#pragma once

#include <optional>
#include <string>

#include "lm/program/compute.h"

namespace rondo {

struct ClassifyOptions {
  std::string run;
  bool scores = false;  // print the probability of the class after it
  std::optional<int> threads;
  Device device = Device::cpu;
  std::optional<Precision> precision{};
};

/// One line of output for each line of input, in its order: the label, with scores "LABEL<TAB>PROBABILITY".
/// An empty line gives an empty line. Returns 0. InputError for a line that cannot be read; those before it
/// are answered.
int classify(const ClassifyOptions& options);

}  // namespace rondo

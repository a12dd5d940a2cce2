// `lm answer`: questions about documents from standard input, the entities that answer them to standard
// output, line by line.
#pragma once

#include <optional>
#include <string>

#include "lm/program/compute.h"

namespace rondo {

struct AnswerOptions {
  std::string run;
  bool scores = false;    // print the probability of the answer after it
  std::string attention;  // file for what was attended to; empty: none
  std::optional<int> threads;
  Device device = Device::cpu;
  std::optional<Precision> precision{};
};

/// One line of output for each line of input, in its order. A line is a document, a tab and a question with
/// @placeholder; the answer is the name of an entity, or its marker where the document has markers, chosen as
/// most_probable_answers() does; with scores "ANSWER<TAB>PROBABILITY". An empty line gives an empty line.
/// Returns 0. InputError for a line that cannot be read; those before it are answered.
int answer(const AnswerOptions& options);

}  // namespace rondo

// `lm translate`: sentences from standard input, their translations to standard output, line by line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lm/program/compute.h"

namespace rondo {

struct TranslateOptions {
  std::string run;
  std::string task;                                      // of a multi-task run; empty: its first one
  std::optional<std::int64_t> beam, n_best, max_length;  // none: the run's
  std::optional<double> length_penalty, coverage_penalty;
  bool allow_unknown = false;
  bool scores = false;           // print them before the translations; with n_best > 1 they are there
  bool replace_unknown = false;  // by the source word that was attended to most
  std::string attention;         // a file for lm/program/alignment.h, a picture if .svg; empty: none
  std::optional<int> threads;
  Device device = Device::cpu;
  std::optional<Precision> precision{};
};

/// One line of output for each line of input, in its order; an empty line gives an empty translation, whose
/// score is 0. With n_best > 1 up to as many lines, "NUMBER ||| TRANSLATION ||| SCORE", the number of the
/// sentence from 0, the form of Moses. Returns 0. Throws Stopped after a signal, and InputError
/// for a line that cannot be read; what was translated before is printed.
int translate(const TranslateOptions& options);

}  // namespace rondo

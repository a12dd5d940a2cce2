// `lm transcribe`: what is said in recordings, one line each, on standard output.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lm/decoding/speech_decoder.h"
#include "lm/program/compute.h"

namespace rondo {

struct TranscribeOptions {
  std::string run;
  std::vector<std::string> files;
  std::optional<std::int64_t> beam;  // of these none: the run's
  std::optional<std::string> ngram;  // an ARPA file; an empty name: no n-gram model
  std::optional<NgramUnit> ngram_unit;
  std::optional<double> ngram_weight, insertion_bonus;
  bool json = false;
  std::optional<int> threads;
  Device device = Device::cpu;
  std::optional<Precision> precision{};
};

/// One line for each file, in their order. Returns 0. InputErrors of open_recogniser() and read_frames(),
/// before anything is printed.
int transcribe(const TranscribeOptions& options);

}  // namespace rondo

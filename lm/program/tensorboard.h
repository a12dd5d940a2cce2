// TensorBoard's event files, `train.tensorboard`: what log.jsonl has, written a second time as TensorBoard
// reads it. A file is a sequence of records with checksums (TFRecord), each an Event in the encoding of
// Protocol Buffers; the few fields that are needed are encoded here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "lm/program/run_folder.h"

namespace rondo {

/// CRC-32C (Castagnoli), as of iSCSI: RFC 3720, B.4.
std::uint32_t crc32c(std::string_view bytes);

/// The event file of a training, beside its log. A line of log.jsonl has its numbers as train/KEY, or
/// valid/KEY, test/KEY, ... for evaluations; of probes as probe/KEY, with ln |dC/dh_t| of steps 0, 5 and 10,
/// and histograms of activations and gates.
class TensorBoardLog {
 public:
  /// Makes a new file for a training that begins, or goes on, after `step` updates. Of what earlier files
  /// have, TensorBoard then forgets all from that step on: the file begins with those lines of the log that
  /// belong there. So it shows what the log has.
  TensorBoardLog(const RunFolder& run, std::int64_t step);

  /// A line of the log; one without "step" belongs to the step of the line before. If the file cannot be
  /// written, one warning on stderr says so, and nothing more is written.
  void add(const nlohmann::ordered_json& line);

 private:
  void write(const std::string& event);
  void warn() const;

  std::filesystem::path path_;
  std::int64_t step_;
  std::ofstream file_;
};

}  // namespace rondo

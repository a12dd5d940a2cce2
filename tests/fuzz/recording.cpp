// Recordings of 8000 samples a second.
#include <algorithm>
#include <cmath>

#include "data/speech/features.h"
#include "tests/data/speech/wav.h"
#include "tests/fuzz/target.h"

namespace rondo::fuzz {
namespace {

void run_recording(std::string_view bytes) {
  const std::vector<float> samples = read_recording(scratch("a.wav", bytes), 8000);
  demand(samples.size() > 1, "no two samples differ");
  demand(std::ranges::all_of(samples, [](float it) { return std::isfinite(it); }), "a sample is no number");
}

/// One channel in another of the format's encodings: its number, bytes of a block of samples, bits of a
/// sample.
std::string encoded(std::uint32_t format, std::uint32_t block, std::uint32_t bits, const std::string& data,
                    const std::string& more_of_format = "") {
  const std::string head = little_endian(format, 2) + little_endian(1, 2) + little_endian(8000, 4) +
                           little_endian(8000 * block, 4) + little_endian(block, 2) + little_endian(bits, 2) +
                           more_of_format;
  const auto chunk = [](const std::string& name, const std::string& content) {
    return name + little_endian(content.size(), 4) + content;
  };
  const std::string chunks = "WAVE" + chunk("fmt ", head) + chunk("data", data);
  return chunk("RIFF", chunks);
}

}  // namespace

Target recording() {
  std::string ramp;
  for (int i = 0; i < 64; ++i) ramp += static_cast<char>(4 * i);
  const std::string floats = little_endian(0x3f000000, 4) + little_endian(0xbf000000, 4);  // 1 / 2, -1 / 2
  return {"recording",
          run_recording,
          {wav_of(tone(40, 0.1)), flac_of_17_samples(), encoded(1, 1, 8, ramp),
           encoded(1, 3, 24, ramp.substr(0, 60)), encoded(3, 4, 32, floats), encoded(6, 1, 8, ramp),
           encoded(7, 1, 8, ramp),
           // A-law and mu-law; then ADPCM: blocks of 64 bytes, with 121 samples each.
           encoded(17, 64, 4, ramp, little_endian(2, 2) + little_endian(121, 2))},
          // No number between two others.
          {encoded(3, 4, 32, floats + little_endian(0x7fc00000, 4) + floats)},
          // libFLAC makes room for the longest block that a header may announce: 65,535 samples of 8
          // channels, 32 bytes for each.
          (65'535 * 8 * 32) + (2 << 20)};
}

}  // namespace rondo::fuzz

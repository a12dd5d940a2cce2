// Recordings: the samples of one microphone, read from WAV files by the library libsndfile, which is
// optional. Read next: data/speech/features.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace rondo {

/// Whether this program was built with libsndfile and kissfft, which all that reads speech needs.
bool has_audio();
/// InputError that says how to get them.
[[noreturn]] void throw_no_audio();

struct Recording {
  std::string name;            // for messages: printable
  std::vector<float> samples;  // of 16 bits: between -32768 and 32767
};

/// From the bytes of a WAV file. InputError for another format; for a file that is shorter than its header
/// says; for another rate than `rate`, in samples a second; for more than one channel; without a sample; and
/// if all samples are the same (silence); without libsndfile.
Recording recording_of(std::string_view bytes, const std::string& name, std::int64_t rate);

/// The same of a file. InputErrors of read_regular_file().
Recording read_recording(const std::filesystem::path& file, std::int64_t rate);

}  // namespace rondo

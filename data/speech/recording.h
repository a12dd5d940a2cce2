// Recordings: the samples of one microphone, read from WAV files by the library libsndfile, which is
// optional. Read next: data/speech/features.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace rondo {

/// Returns whether this program was built with libsndfile and kissfft, which all that reads speech needs.
bool has_audio();
/// Throws the InputError that says how to get them.
[[noreturn]] void throw_no_audio();

/// Reads the samples of a WAV file, in the units of 16 bits: between -32768 and 32767. InputError for another
/// format; for a file that is shorter than its header says; for another rate than `rate`, in samples a
/// second; for more than one channel; without a sample; and if all samples are the same (silence); without
/// libsndfile. InputErrors of InputFile.
std::vector<float> read_recording(const std::filesystem::path& path, std::int64_t rate);

}  // namespace rondo

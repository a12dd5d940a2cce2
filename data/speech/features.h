// The input of a speech recogniser: recordings of one microphone, read from files by the library
// libsndfile, which is optional; and the logarithm of the energy of speech in some frequency bands, every few
// milliseconds. The bands are equally wide on the mel scale, as the ear hears pitch: Davis & Mermelstein
// 1980; the details are Kaldi's (Povey et al. 2011), with which EESEN made the data of "On Multiplicative
// Integration with Recurrent Neural Networks", section 3.3.
//
//   frame      25 ms of samples, every 10 ms; without its mean
//   energy     ln sum_n x_n^2
//   emphasis   x_n - 0.97 x_(n-1), as high frequencies are weak
//   window     x_n (1/2 - 1/2 cos(2 pi n / (N - 1)))^0.85
//   spectrum   P_k = |FFT(x)_k|^2, by the library kissfft; x is padded to a power of two
//   filters    ln sum_k w_jk P_k, where w_j is a triangle on the scale mel(f) = 1127 ln(1 + f / 700)
//
// Frames as a model reads them are these numbers, normalised; with their slopes over time (deltas); several
// together, so that there are fewer steps. Read next: data/speech/utterances.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/keys.h"

struct kiss_fftr_state;

namespace rondo {

// --- Recordings ---

/// Returns whether this program was built with libsndfile and kissfft, which all that reads speech needs.
bool has_audio();
/// Throws the InputError that says how to get them.
[[noreturn]] void throw_no_audio();

/// Reads the samples of a WAV, FLAC or other file that libsndfile knows by its content, in the units of 16
/// bits: between -32768 and 32767; a WAV file whose header does not know its length to the end. InputError
/// for another format; for a WAV or FLAC file that is shorter than its header says (libsndfile ends others
/// where their bytes end); for another rate than `rate`, in samples a second; for more than one channel;
/// without a sample; and if all samples are the same (silence); without libsndfile. InputErrors of
/// read_file().
std::vector<float> read_recording(const std::filesystem::path& path, std::int64_t rate);

// --- Filterbank ---

struct FilterbankOptions {
  std::int64_t sample_rate = 16000;  // samples a second
  double window = 25, step = 10;     // ms
  std::int64_t filters = 40;         // bands
  double lowest = 20, highest = 0;   // Hz; highest 0: half the sample rate
  bool energy = false;               // a number more, before the filters
};
/// `sample_rate`, `window`, `step`, `filters`, `lowest`, `highest`, `energy`.
Keys keys_of(FilterbankOptions& options);
/// Throws InputError for options that contradict each other, and for a band without a frequency of the
/// spectrum.
void check_options(const FilterbankOptions& options);
/// Numbers of a frame.
inline std::int64_t width_of(const FilterbankOptions& options) {
  return options.filters + (options.energy ? 1 : 0);
}

class Filterbank {
 public:
  /// InputErrors of check_options(); without kissfft.
  explicit Filterbank(const FilterbankOptions& options);

  /// The numbers of all frames, one frame after the other. Only whole frames count: a recording that is
  /// shorter than a window has none. Not for two threads at a time.
  std::vector<float> operator()(std::span<const float> samples);
  const FilterbankOptions& options() const { return options_; }

 private:
  /// A band: weights of the spectrum from `begin` on.
  struct Band {
    std::size_t begin = 0;
    std::vector<float> weights;
  };
  friend void check_options(const FilterbankOptions& options);
  static std::vector<Band> bands_of(const FilterbankOptions& options);

  FilterbankOptions options_;
  std::vector<Band> bands_;
  std::vector<float> window_;
  std::vector<float> padded_;  // a frame
  std::unique_ptr<kiss_fftr_state, void (*)(void*)> fft_;
};

// --- Frames ---

/// Whose mean and variance become 0 and 1: those of all frames of a speaker; or of all frames of the
/// training recordings.
enum class NormalizedBy { speaker, corpus };
inline std::vector<std::string> names_of(NormalizedBy) { return {"speaker", "corpus"}; }

struct FrameOptions {
  FilterbankOptions filterbank{};
  NormalizedBy normalized_by = NormalizedBy::speaker;
  std::int64_t deltas = 2;  // 1: slopes; 2: the slopes of these as well
  std::int64_t stack = 1;   // consecutive frames that are one step of the model
};
/// Those of FilterbankOptions, `normalized_by`, `deltas`, `stack`.
Keys keys_of(FrameOptions& options);
/// InputErrors of check_options() of the filterbank.
void check_options(const FrameOptions& options);
/// Numbers of a step of the model.
inline std::int64_t width_of(const FrameOptions& options) {
  return width_of(options.filterbank) * (1 + options.deltas) * options.stack;
}

/// Frames one after another, each of `width` numbers.
struct Frames {
  std::int64_t width = 0;
  std::vector<float> numbers;

  std::int64_t size() const { return std::ssize(numbers) / width; }
  const float* operator[](std::int64_t frame) const { return numbers.data() + frame * width; }
};

/// Mean and deviation of each number of many frames.
class FrameStatistics {
 public:
  void add(const Frames& frames);
  /// To mean 0 and deviation 1; a number that is always the same becomes 0. Error if nothing was added.
  void normalize(Frames& frames) const;

  /// A line with the number of frames, then for each number of a frame its sum and that of its squares; and
  /// back to the same bits; `name` is for errors. InputError, with the line, for what to_text() does not
  /// write, and for another width.
  std::string to_text() const;
  static FrameStatistics from_text(std::string_view text, const std::string& name, std::int64_t width);

 private:
  std::vector<double> sum_, squares_;  // of each number
  double count_ = 0;
};

/// Slopes, by regression over five frames: d_t = sum_n n (x_(t+n) - x_(t-n)) / 10, n = 1, 2 (Young et al.,
/// The HTK Book, 5.6). The first and the last frame are repeated beyond the ends.
Frames deltas_of(const Frames& frames);

/// The steps of the model: frames with their deltas, `stack` of them a step; what lacks at the last step is
/// the last frame again. Width: width_of(options).
Frames steps_of(const Frames& frames, const FrameOptions& options);
/// How many steps so many frames are.
inline std::int64_t steps_of(std::int64_t frames, const FrameOptions& options) {
  return (frames + options.stack - 1) / options.stack;
}

}  // namespace rondo

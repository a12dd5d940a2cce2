// The input of a speech recogniser: the logarithm of the energy of speech in some frequency bands, every
// few milliseconds. The bands are equally wide on the mel scale, as the ear hears pitch: Davis &
// Mermelstein 1980; the details are Kaldi's (Povey et al. 2011), with which EESEN made the data of "On
// Multiplicative Integration with Recurrent Neural Networks", section 3.3.
//
//   frame      25 ms of samples, every 10 ms; without its mean
//   energy     ln sum_n x_n^2
//   emphasis   x_n - 0.97 x_(n-1), as high frequencies are weak
//   window     x_n (1/2 - 1/2 cos(2 pi n / (N - 1)))^0.85
//   spectrum   P_k = |FFT(x)_k|^2, by the library kissfft; x is padded to a power of two
//   filters    ln sum_k w_jk P_k, where w_j is a triangle on the scale mel(f) = 1127 ln(1 + f / 700)
//
// Read next: data/speech/frames.h.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tensor/keys.h"

struct kiss_fftr_state;

namespace rondo {

struct FilterbankOptions {
  std::int64_t sample_rate = 16000;  // samples a second
  double window = 25, step = 10;     // ms
  std::int64_t filters = 40;         // bands
  double lowest = 20, highest = 0;   // Hz; highest 0: half the sample rate
  bool energy = false;               // a number more, before the filters
};
/// `sample_rate`, `window`, `step`, `filters`, `lowest`, `highest`, `energy`.
Keys keys_of(FilterbankOptions& options);
/// InputError for options that contradict each other, and for a band without a frequency of the spectrum.
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
  std::int64_t width() const { return width_of(options_); }

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

}  // namespace rondo

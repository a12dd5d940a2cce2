// Recordings, filterbanks and frames; see data/speech/features.h.
#include "data/speech/features.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numbers>

#include "data/files/input_file.h"

#ifdef RONDO_AUDIO
#include <kissfft/kiss_fftr.h>
#include <sndfile.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace rondo {

// --- Recordings ---

void throw_no_audio() {
  throw_built_without("libsndfile and kissfft", "speech", "libsndfile1-dev libkissfft-dev");
}

#ifndef RONDO_AUDIO

bool has_audio() { return false; }
std::vector<float> read_recording(const std::filesystem::path&, std::int64_t) { throw_no_audio(); }

#else

bool has_audio() { return true; }

namespace {

/// The header of a WAV file has the sizes of its chunks. Who writes into a pipe does not know that of the
/// samples, and leaves 0 (then the size of the whole is wrong, too) or a size of 2 GiB or more: 0x7ffff000
/// (sox), 0x80000000 (arecord), 0xffffffff (ffmpeg). Then it becomes the size of what is there. InputError
/// for fewer bytes than another size says, which libsndfile reads without an error.
void complete_sizes(std::string& bytes, const std::string& name) {
  constexpr std::size_t first = 12, head = 8, field = 4;  // a chunk begins with its name and its size
  constexpr std::size_t least_unknown = 0x7ffff000;
  const auto size_at = [&](std::size_t at) {
    std::size_t size = 0;
    for (std::size_t i = field; i-- > 0;) size = size << 8 | static_cast<unsigned char>(bytes[at + i]);
    return size;
  };
  if (!bytes.starts_with("RIFF")) return;
  for (std::size_t at = first; at + head <= bytes.size();) {
    const std::size_t size = size_at(at + field), there = bytes.size() - at - head;
    if (bytes.compare(at, field, "data") == 0) {
      const bool is_unknown = size == 0 ? size_at(field) != bytes.size() - head : size >= least_unknown;
      check_input(is_unknown || size <= there,
                  "{}: truncated: its header announces {} bytes of samples, and it has {}", name, size,
                  there);
      for (std::size_t i = 0; is_unknown && i < field; ++i)
        bytes[at + field + i] = static_cast<char>(there >> 8 * i & 0xff);
      return;
    }
    at += head + std::min(size + size % 2, there);
  }
}

}  // namespace

std::vector<float> read_recording(const std::filesystem::path& path, std::int64_t rate) {
  const std::string name = printable(path.string());
  std::string bytes = read_file(path, Pipes::refused, std::uint64_t{1} << 30);
  check_input(!bytes.empty(), "{}: empty; expected a recording", name);
  complete_sizes(bytes, name);
  // A file without a name, so that libsndfile judges by its content alone.
  const int copy = memfd_create("recording", 0);
  check_system(copy >= 0 && write(copy, bytes.data(), bytes.size()) == std::ssize(bytes) &&
                   lseek(copy, 0, SEEK_SET) == 0,
               "{}: cannot be copied into memory", name);
  SF_INFO info{};
  const std::unique_ptr<SNDFILE, int (*)(SNDFILE*)> file(sf_open_fd(copy, SFM_READ, &info, SF_TRUE),
                                                         sf_close);
  check_input(
      file != nullptr,
      "{}: no recording that libsndfile can read ({}); convert it, as in: sox FILE -r {} -c 1 NEW.wav", name,
      printable(sf_strerror(nullptr)), rate);
  check_input(info.channels == 1, "{}: {} channels, and one is read: mix them, as in: sox FILE -c 1 NEW.wav",
              name, info.channels);
  check_input(info.samplerate == rate,
              "{}: {} samples a second, and this corpus has {} (data.sample_rate): resample it, as in: sox "
              "FILE -r {} NEW.wav",
              name, info.samplerate, rate, rate);
  // In pieces, because a hostile header may announce more samples than there are bytes, and that of a FLAC
  // file from a pipe has no number of samples, which libsndfile says by the largest one.
  constexpr sf_count_t piece = 1 << 16;
  std::vector<float> samples;
  samples.reserve(static_cast<std::size_t>(std::min(info.frames, std::ssize(bytes))));
  for (sf_count_t read = piece; read == piece;) {
    const std::size_t before = samples.size();
    samples.resize(before + piece);
    read = sf_readf_float(file.get(), &samples[before], piece);
    samples.resize(before + static_cast<std::size_t>(read));
  }
  check_input(std::ssize(samples) == info.frames || info.frames == SF_COUNT_MAX,
              "{}: truncated: {} of {} samples can be read", name, samples.size(), info.frames);
  check_input(!samples.empty(), "{}: no samples", name);
  constexpr float scale = 32768;  // of 16 bits, as Kaldi has them
  for (float& sample : samples) sample *= scale;
  // Samples that are floats have a full scale of 1 and may exceed it a little; squares of far more are
  // infinite.
  constexpr float most_of_full_scale = 1000;
  for (const float sample : samples)
    check_input(std::abs(sample) <= most_of_full_scale * scale,
                "{}: a sample is {}, and full scale is 1: the file is damaged", name, sample / scale);
  const auto [least, most] = std::minmax_element(samples.begin(), samples.end());
  check_input(*least < *most, "{}: silent: all {} samples are the same", name, samples.size());
  return samples;
}

#endif

// --- Filterbank ---

namespace {

std::size_t samples_of(double milliseconds, const FilterbankOptions& options) {
  return static_cast<std::size_t>(milliseconds / 1000 * static_cast<double>(options.sample_rate));
}
std::size_t padded_window(const FilterbankOptions& options) {
  return std::bit_ceil(samples_of(options.window, options));
}

/// In Hz.
double highest_of(const FilterbankOptions& options) {
  return options.highest > 0 ? options.highest : static_cast<double>(options.sample_rate) / 2;
}

double mel(double hertz) { return 1127 * std::log(1 + hertz / 700); }

/// Returns the window of a frame; without kissfft nobody needs it.
[[maybe_unused]] std::vector<float> window_of(std::size_t samples) {
  std::vector<float> window;
  for (std::size_t n = 0; n < samples; ++n) {
    const double turn = static_cast<double>(n) / static_cast<double>(samples - 1);
    window.push_back(static_cast<float>(std::pow(0.5 - 0.5 * std::cos(2 * std::numbers::pi * turn), 0.85)));
  }
  return window;
}

}  // namespace

Keys keys_of(FilterbankOptions& it) {
  return {
      {"sample_rate", &it.sample_rate, between(1000, 1'000'000), "samples/s", "of all recordings"},
      {"window", &it.window, between(1, 1000), "ms", "length of a frame"},
      {"step", &it.step, between(1, 1000), "ms", "from the begin of a frame to that of the next"},
      {"filters", &it.filters, between(1, 1000), "bands", "of the filterbank, equally wide on the mel scale"},
      {"lowest", &it.lowest, at_least(0), "Hz", "lower end of the bands"},
      {"highest", &it.highest, at_least(0), "Hz", "upper end of the bands; 0: half of data.sample_rate"},
      {"energy", &it.energy, "the energy of a frame as one number more"},
  };
}

void check_options(const FilterbankOptions& options) {
  check_limits_of(options);
  const double half = static_cast<double>(options.sample_rate) / 2, highest = highest_of(options);
  check_input(highest <= half, "highest = {}: {} samples a second have no frequency above {} Hz", highest,
              options.sample_rate, half);
  check_input(options.lowest < highest, "lowest = {}: not below data.highest = {}", options.lowest, highest);
  check_input(samples_of(options.window, options) >= 8 && samples_of(options.step, options) >= 1,
              "window = {}, data.step = {}: {} samples a second are too few for frames of so few ms",
              options.window, options.step, options.sample_rate);
  const auto bands = Filterbank::bands_of(options);
  const auto is_empty = [](const auto& band) { return band.weights.empty(); };
  check_input(std::ranges::none_of(bands, is_empty),
              "filters = {}: band {} is so narrow that it has no frequency of a window of {} ms: set fewer, "
              "or a longer data.window",
              options.filters, std::ranges::find_if(bands, is_empty) - bands.begin() + 1, options.window);
}

std::vector<Filterbank::Band> Filterbank::bands_of(const FilterbankOptions& options) {
  const std::size_t bins = padded_window(options) / 2;  // without the highest frequency
  const double width = static_cast<double>(options.sample_rate) / static_cast<double>(2 * bins);
  const double low = mel(options.lowest);
  const double step = (mel(highest_of(options)) - low) / static_cast<double>(options.filters + 1);
  std::vector<Band> bands(static_cast<std::size_t>(options.filters));
  for (std::size_t j = 0; j < bands.size(); ++j) {
    const double left = low + static_cast<double>(j) * step, center = left + step, right = center + step;
    for (std::size_t k = 0; k < bins; ++k) {
      const double at = mel(width * static_cast<double>(k));
      if (at <= left || at >= right) continue;
      if (bands[j].weights.empty()) bands[j].begin = k;
      const double weight = at <= center ? (at - left) / step : (right - at) / step;
      bands[j].weights.push_back(static_cast<float>(weight));
    }
  }
  return bands;
}

#ifndef RONDO_AUDIO

Filterbank::Filterbank(const FilterbankOptions&) : fft_(nullptr, std::free) { throw_no_audio(); }
std::vector<float> Filterbank::operator()(std::span<const float>) { throw_no_audio(); }

#else

Filterbank::Filterbank(const FilterbankOptions& options)
    : options_((check_options(options), options)),
      window_(window_of(samples_of(options.window, options))),
      padded_(padded_window(options)),
      fft_(kiss_fftr_alloc(static_cast<int>(padded_.size()), 0, nullptr, nullptr), std::free) {
  check(fft_ != nullptr, "[filterbank] no memory for a transform of {} samples", padded_.size());
  bands_ = bands_of(options);
}

std::vector<float> Filterbank::operator()(std::span<const float> samples) {
  constexpr float least = std::numeric_limits<float>::epsilon();  // of which a logarithm is taken
  const std::size_t N = window_.size(), step = samples_of(options_.step, options_);
  std::vector<float> numbers;
  std::vector<kiss_fft_cpx> spectrum(padded_.size() / 2 + 1);
  std::vector<float> power(spectrum.size());
  for (std::size_t begin = 0; begin + N <= samples.size(); begin += step) {
    double sum = 0, energy = 0;
    for (std::size_t n = 0; n < N; ++n) sum += static_cast<double>(samples[begin + n]);
    const auto mean = static_cast<float>(sum / static_cast<double>(N));
    for (std::size_t n = 0; n < N; ++n) {
      padded_[n] = samples[begin + n] - mean;
      energy += static_cast<double>(padded_[n]) * static_cast<double>(padded_[n]);
    }
    if (options_.energy) numbers.push_back(std::log(std::max(static_cast<float>(energy), least)));
    for (std::size_t n = N; n-- > 0;)
      padded_[n] = (padded_[n] - 0.97F * padded_[n > 0 ? n - 1 : 0]) * window_[n];
    kiss_fftr(fft_.get(), padded_.data(), spectrum.data());
    for (std::size_t k = 0; k < power.size(); ++k)
      power[k] = spectrum[k].r * spectrum[k].r + spectrum[k].i * spectrum[k].i;
    for (const Band& band : bands_) {
      float inside = 0;
      for (std::size_t k = 0; k < band.weights.size(); ++k) inside += band.weights[k] * power[band.begin + k];
      numbers.push_back(std::log(std::max(inside, least)));
    }
  }
  return numbers;
}

#endif

// --- Frames ---

Keys keys_of(FrameOptions& it) {
  return joined(
      {keys_of(it.filterbank),
       {{"normalized_by", choice(it.normalized_by),
         "whose frames have mean 0 and variance 1: those of each speaker (of all files that `lm transcribe` "
         "gets), or of the training recordings"},
        {"deltas", &it.deltas, between(0, 2), "orders",
         "1: with the slope of each number over time; 2: with the slopes of these, too"},
        {"stack", &it.stack, between(1, 1000), "frames",
         "consecutive frames that are one step of the model"}}});
}

void check_options(const FrameOptions& options) {
  check_limits_of(options);
  check_options(options.filterbank);
}

void FrameStatistics::add(const Frames& frames) {
  const auto width = static_cast<std::size_t>(frames.width);
  sum_.resize(width), squares_.resize(width);
  for (std::size_t i = 0; i < frames.numbers.size(); ++i) {
    const auto x = static_cast<double>(frames.numbers[i]);
    sum_[i % width] += x;
    squares_[i % width] += x * x;
  }
  count_ += static_cast<double>(frames.size());
}

void FrameStatistics::normalize(Frames& frames) const {
  check(count_ > 0 && std::ssize(sum_) == frames.width,
        "[frames] statistics of {} frames of width {}, and width {} is to be normalized", count_, sum_.size(),
        frames.width);
  const std::size_t width = sum_.size();
  for (std::size_t j = 0; j < width; ++j) {
    const double mean = sum_[j] / count_, variance = squares_[j] / count_ - mean * mean;
    constexpr double least = 1e-8;  // of numbers that differ, and not by rounding alone
    const double factor = variance > least ? 1 / std::sqrt(variance) : 0;
    for (std::size_t i = j; i < frames.numbers.size(); i += width)
      frames.numbers[i] = static_cast<float>((static_cast<double>(frames.numbers[i]) - mean) * factor);
  }
}

std::string FrameStatistics::to_text() const {
  std::string text = fmt::format("{}\n", count_);
  for (std::size_t j = 0; j < sum_.size(); ++j) text += fmt::format("{} {}\n", sum_[j], squares_[j]);
  return text;
}

FrameStatistics FrameStatistics::from_text(std::string_view text, const std::string& name,
                                           std::int64_t width) {
  FrameStatistics statistics;
  const std::vector<std::string_view> lines = split_lines(text);
  check_input(std::ssize(lines) == width + 1, "{}: {} lines, and {} numbers of a frame have {}", name,
              lines.size(), width, width + 1);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::vector<double> numbers;
    for (const std::string_view word : split_words(lines[i]))
      numbers.push_back(parse_number(word).value_or(NAN));
    const bool are_finite = std::ranges::all_of(numbers, [](double it) { return std::isfinite(it); });
    check_input(are_finite && numbers.size() == (i == 0 ? 1 : 2) && (i > 0 || numbers[0] > 0),
                "{}: line {}: expected {}", name, i + 1,
                i == 0 ? "the number of frames" : "two sums of frames");
    if (i == 0) {
      statistics.count_ = numbers[0];
    } else {
      statistics.sum_.push_back(numbers[0]);
      statistics.squares_.push_back(numbers[1]);
    }
  }
  return statistics;
}

Frames deltas_of(const Frames& frames) {
  Frames slopes{frames.width, std::vector<float>(frames.numbers.size())};
  const std::int64_t last = frames.size() - 1;
  const auto at = [&](std::int64_t t) { return frames[std::clamp<std::int64_t>(t, 0, last)]; };
  float* to = slopes.numbers.data();
  for (std::int64_t t = 0; t <= last; ++t)
    for (std::int64_t j = 0; j < frames.width; ++j)
      *to++ = ((at(t + 1)[j] - at(t - 1)[j]) + 2 * (at(t + 2)[j] - at(t - 2)[j])) / 10;
  return slopes;
}

Frames steps_of(const Frames& frames, const FrameOptions& options) {
  check(frames.size() > 0, "[frames] no frame");
  std::vector<Frames> slopes;
  for (std::int64_t order = 0; order < options.deltas; ++order)
    slopes.push_back(deltas_of(order == 0 ? frames : slopes.back()));
  Frames steps{width_of(options), {}};
  const std::int64_t T = steps_of(frames.size(), options);
  steps.numbers.reserve(static_cast<std::size_t>(T * steps.width));
  const auto append = [&](const Frames& from, std::int64_t frame) {
    steps.numbers.insert(steps.numbers.end(), from[frame], from[frame] + from.width);
  };
  for (std::int64_t i = 0; i < T * options.stack; ++i) {
    const std::int64_t frame = std::min(i, frames.size() - 1);
    append(frames, frame);
    for (const Frames& order : slopes) append(order, frame);
  }
  return steps;
}

}  // namespace rondo

// Frames; see data/speech/frames.h.
#include "data/speech/frames.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "data/text/text.h"
#include "tensor/error.h"

namespace rondo {

Keys keys_of(FrameOptions& it) {
  return joined(
      {keys_of(it.filterbank),
       {{"normalized_by",
         choice(it.normalized_by),
         {},
         "",
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
    const char *at = lines[i].data(), *const end = at + lines[i].size();
    const auto next = [&] {
      double value = 0;
      const auto [after, failure] = std::from_chars(at, end, value);
      check_input(failure == std::errc() && std::isfinite(value) && (after == end || *after == ' '),
                  "{}: line {}: expected sums of frames", name, i + 1);
      at = after == end ? end : after + 1;
      return value;
    };
    if (i == 0) {
      statistics.count_ = next();
      check_input(statistics.count_ > 0, "{}: line 1: {} frames", name, statistics.count_);
    } else {
      statistics.sum_.push_back(next());
      statistics.squares_.push_back(next());
    }
    check_input(at == end, "{}: line {}: more than was expected", name, i + 1);
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

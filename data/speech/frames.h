// Frames as a model reads them: numbers of the filterbank, normalised; with their slopes over time (deltas);
// several together, so that there are fewer steps. Read next: data/speech/utterances.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/speech/filterbank.h"
#include "tensor/keys.h"

namespace rondo {

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

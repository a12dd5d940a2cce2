// Where a loss comes from: sums over the symbols at a position, and over those with a given number of
// occurrences in the training text. They are added up in lm/evaluation/evaluation.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace rondo {

/// A sum over scored symbols, in nats.
struct LossSum {
  double nats_sum = 0;
  int64_t symbols = 0;

  double nats() const { return nats_sum / static_cast<double>(symbols); }
  LossSum& operator+=(const LossSum& more);
};

/// The symbols whose number, such as their position, is `from` to `to`.
struct LossBand {
  int64_t from = 0, to = 0;
  LossSum loss{};
};

/// Sums by a number, 0 or above. Each number below `singles`, a power of two, is a band of its own; further
/// bands reach from a power of two to the number before the next one. So the sums need little memory however
/// long a text is.
class LossBands {
 public:
  explicit LossBands(int64_t singles = 1) : singles_(singles) {}
  void add(int64_t number, const LossSum& loss);
  /// Those that have symbols, in the order of their numbers.
  std::vector<LossBand> bands() const;

 private:
  int64_t singles_;
  std::vector<LossSum> sums_;
};

/// How many times each id occurs; `size`: of the vocabulary.
std::vector<int64_t> occurrences(std::span<const int32_t> ids, int64_t size);

/// The losses of symbols by how many times the training text has them.
struct FrequencyBands {
  std::vector<LossBand> known{};
  std::optional<LossSum> unknown{};  // of `<unk>`, however often the training text has it
};
/// `by_symbol` has the sum of each id, and may end before the last one. Error if it has more ids than
/// `training_counts`.
FrequencyBands by_frequency(const std::vector<LossSum>& by_symbol,
                            const std::vector<int64_t>& training_counts, std::optional<int32_t> unknown_id);

/// The same symbols twice, each time in other bands; what was not asked for is empty.
struct LossBreakdown {
  std::vector<LossBand> by_position{};
  FrequencyBands by_frequency{};
};

}  // namespace rondo

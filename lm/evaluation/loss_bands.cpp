// Where a loss comes from.
#include "lm/evaluation/loss_bands.h"

#include <bit>

#include "tensor/error.h"

namespace rondo {

LossSum& LossSum::operator+=(const LossSum& more) {
  nats_sum += more.nats_sum;
  symbols += more.symbols;
  return *this;
}

void LossBands::add(int64_t number, const LossSum& loss) {
  const auto width = [](int64_t it) { return std::bit_width(static_cast<uint64_t>(it)); };
  const int64_t at = number < singles_ ? number : singles_ + width(number) - width(singles_);
  if (at >= std::ssize(sums_)) sums_.resize(static_cast<size_t>(at) + 1);
  sums_[static_cast<size_t>(at)] += loss;
}

std::vector<LossBand> LossBands::bands() const {
  std::vector<LossBand> bands;
  for (int64_t at = 0; at < std::ssize(sums_); ++at) {
    const LossSum& sum = sums_[static_cast<size_t>(at)];
    if (sum.symbols == 0) continue;
    const int64_t from = at < singles_ ? at : singles_ << (at - singles_);
    bands.push_back({from, at < singles_ ? at : 2 * from - 1, sum});
  }
  return bands;
}

std::vector<int64_t> occurrences(std::span<const int32_t> ids, int64_t size) {
  std::vector<int64_t> counts(static_cast<size_t>(size));
  for (const int32_t id : ids) ++counts.at(static_cast<size_t>(id));
  return counts;
}

FrequencyBands by_frequency(const std::vector<LossSum>& by_symbol,
                            const std::vector<int64_t>& training_counts, std::optional<int32_t> unknown_id) {
  check(by_symbol.size() <= training_counts.size(), "[by_frequency] {} symbols, but counts of {}",
        by_symbol.size(), training_counts.size());
  FrequencyBands result;
  LossBands known;
  for (size_t id = 0; id < by_symbol.size(); ++id) {
    if (by_symbol[id].symbols == 0) continue;
    if (static_cast<int32_t>(id) == unknown_id)
      result.unknown = by_symbol[id];
    else
      known.add(training_counts[id], by_symbol[id]);
  }
  result.known = known.bands();
  return result;
}

}  // namespace rondo

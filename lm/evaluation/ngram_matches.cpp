// Counts of n-grams; see lm/evaluation/ngram_matches.h.
#include "lm/evaluation/ngram_matches.h"

#include <algorithm>

namespace rondo {

NgramCounts ngram_counts(std::u32string_view sentence, int order) {
  NgramCounts counts;
  const auto length = static_cast<std::size_t>(order);
  for (std::size_t end = length; end <= sentence.size(); ++end)
    ++counts[sentence.substr(end - length, length)];
  return counts;
}

std::int64_t total(const NgramCounts& counts) {
  std::int64_t sum = 0;
  for (const auto& [ngram, count] : counts) sum += count;
  return sum;
}

std::int64_t matches(const NgramCounts& hypothesis, const NgramCounts& reference) {
  std::int64_t sum = 0;
  for (const auto& [ngram, count] : hypothesis) {
    const auto found = reference.find(ngram);
    if (found != reference.end()) sum += std::min(count, found->second);
  }
  return sum;
}

std::u32string WordNumbers::of(const std::vector<std::u32string>& words) {
  std::u32string result;
  for (const std::u32string& word : words)
    result += numbers_.try_emplace(word, static_cast<char32_t>(numbers_.size())).first->second;
  return result;
}

}  // namespace rondo

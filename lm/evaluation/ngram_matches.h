// What BLEU and chrF count: the n-grams of a sentence, of words or of characters. For language models of
// n-grams see data/ngram_model.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace rondo {

/// Each n-gram and how often it occurs.
using NgramCounts = std::unordered_map<std::u32string_view, std::int64_t>;

/// The n-grams of `order` symbols: code points, or words as numbers. The result is a view of `sentence`,
/// which must outlive it; empty if the sentence is shorter.
NgramCounts ngram_counts(std::u32string_view sentence, int order);

std::int64_t total(const NgramCounts& counts);

/// The n-grams that occur in both, each as often as in the one in which it is rarer.
std::int64_t matches(const NgramCounts& hypothesis, const NgramCounts& reference);

/// Gives the same number to the same word in all sentences that are compared.
class WordNumbers {
 public:
  std::u32string of(const std::vector<std::u32string>& words);

 private:
  std::unordered_map<std::u32string, char32_t> numbers_;
};

}  // namespace rondo

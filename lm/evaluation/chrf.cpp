// chrF; see lm/evaluation/chrf.h.
#include "lm/evaluation/chrf.h"

#include <fmt/format.h>

#include <vector>

#include "data/unicode.h"
#include "lm/evaluation/ngram_matches.h"
#include "tensor/error.h"

namespace rondo {
namespace {

bool is_ascii_punctuation(char32_t c) {
  const auto between = [c](char32_t first, char32_t last) { return first <= c && c <= last; };
  return between(U'!', U'/') || between(U':', U'@') || between(U'[', U'`') || between(U'{', U'~');
}

/// One mark at most is separated from a word: "(so)" gives "(so" and ")", as in Popovic's chrF++.py.
std::vector<std::u32string> words_and_punctuation(std::u32string_view text) {
  std::vector<std::u32string> result;
  for (const std::u32string& word : split_at_white_space(text)) {
    std::size_t cut = word.size();
    if (word.size() > 1 && is_ascii_punctuation(word.back()))
      cut = word.size() - 1;
    else if (word.size() > 1 && is_ascii_punctuation(word.front()))
      cut = 1;
    result.push_back(word.substr(0, cut));
    if (cut < word.size()) result.push_back(word.substr(cut));
  }
  return result;
}

/// The characters of a sentence without white space, and its words as numbers.
struct Sentence {
  std::u32string characters, words;

  NgramCounts ngrams(int index) const {
    const bool of_words = index >= chrf_characters;
    return of_words ? ngram_counts(words, index - chrf_characters + 1) : ngram_counts(characters, index + 1);
  }
};

Sentence sentence_of(std::string_view utf8, const ChrfOptions& options, WordNumbers& numbers) {
  std::u32string text = code_points(utf8, "a sentence");
  if (options.lower_case) text = lower_case(text);
  Sentence result;
  for (const char32_t c : text)
    if (!is_white_space(c)) result.characters += c;
  if (options.word_order > 0) result.words = numbers.of(words_and_punctuation(text));
  return result;
}

}  // namespace

ChrfStatistics& ChrfStatistics::operator+=(const ChrfStatistics& other) {
  for (std::size_t i = 0; i < orders.size(); ++i) {
    orders[i].hypothesis += other.orders[i].hypothesis;
    orders[i].reference += other.orders[i].reference;
    orders[i].matches += other.orders[i].matches;
  }
  return *this;
}

ChrfStatistics chrf_statistics(std::string_view hypothesis, std::span<const std::string_view> references,
                               const ChrfOptions& options) {
  check_input(!references.empty(), "chrF: a sentence without a reference");
  check_input(options.word_order >= 0 && options.word_order <= chrf_words,
              "chrF: an order of words of {}: expected 0 to {}", options.word_order, chrf_words);
  WordNumbers numbers;
  const Sentence translation = sentence_of(hypothesis, options, numbers);
  const int orders = chrf_characters + options.word_order;
  std::vector<NgramCounts> translated;
  for (int i = 0; i < orders; ++i) translated.push_back(translation.ngrams(i));

  ChrfStatistics best;
  double best_score = -1;  // the first of equally good ones
  for (const std::string_view reference : references) {
    const Sentence expected = sentence_of(reference, options, numbers);
    ChrfStatistics statistics;
    for (int i = 0; i < orders; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const NgramCounts counts = expected.ngrams(i);
      // n-grams longer than the reference cannot match, and are not held against the translation.
      statistics.orders[at] = {counts.empty() ? 0 : total(translated[at]), total(counts),
                               matches(translated[at], counts)};
    }
    const double score = chrf(statistics);
    if (score <= best_score) continue;
    best_score = score;
    best = statistics;
  }
  return best;
}

double chrf(const ChrfStatistics& statistics) {
  double precision = 0, recall = 0;
  int orders = 0;
  for (const ChrfStatistics::Counts& counts : statistics.orders) {
    if (counts.hypothesis == 0 || counts.reference == 0) continue;
    precision += static_cast<double>(counts.matches) / static_cast<double>(counts.hypothesis);
    recall += static_cast<double>(counts.matches) / static_cast<double>(counts.reference);
    ++orders;
  }
  if (precision + recall == 0) return 0;
  precision /= orders;
  recall /= orders;
  constexpr double factor = chrf_beta * chrf_beta;
  return 100 * ((1 + factor) * precision * recall / (factor * precision + recall));
}

std::string chrf_name(const ChrfOptions& options) {
  return fmt::format("chrF{}{}", chrf_beta, std::string(static_cast<std::size_t>(options.word_order), '+'));
}

std::string chrf_signature(const ChrfOptions& options, std::size_t references, const std::string& version) {
  return fmt::format("nrefs:{}|case:{}|eff:yes|nc:{}|nw:{}|space:no|version:{}", references,
                     options.lower_case ? "lc" : "mixed", chrf_characters, options.word_order, version);
}

}  // namespace rondo

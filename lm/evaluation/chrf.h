// chrF (Popovic 2015) and chrF++ (Popovic 2017), as sacreBLEU 2.6 computes them: an F-score of the character
// n-grams, and for chrF++ of the word n-grams, that translations and references share. Text is UTF-8, a
// sentence is one line. See lm/evaluation/bleu.h for the other metric.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace rondo {

constexpr int chrf_characters = 6;  // n-grams of one to six characters, without white space
constexpr int chrf_words = 2;       // and of at most two words
constexpr int chrf_beta = 2;        // recall counts beta times as much as precision

/// The defaults are sacreBLEU's: chrF2.
struct ChrfOptions {
  int word_order = 0;       // the longest n-grams of words, 0 to 2 words; 2: chrF++
  bool lower_case = false;  // as far as lower_case() in data/unicode.h goes
};

/// The counts of a sentence, by order: first those of characters, then those of words. Those of a corpus are
/// the sum.
struct ChrfStatistics {
  struct Counts {
    std::int64_t hypothesis = 0, reference = 0, matches = 0;
    bool operator==(const Counts&) const = default;
  };
  std::array<Counts, chrf_characters + chrf_words> orders{};

  ChrfStatistics& operator+=(const ChrfStatistics& other);
  bool operator==(const ChrfStatistics&) const = default;
};

/// Of several references the one with the highest chrF counts. Punctuation at the end of a word, or else at
/// its beginning, is a word of its own. InputError if there is no reference, a text is not UTF-8, or the
/// order of words is not 0 to 2.
ChrfStatistics chrf_statistics(std::string_view hypothesis, std::span<const std::string_view> references,
                               const ChrfOptions& options);

/// 0 to 100: the F-score of the mean precision and the mean recall over the orders that both sides have.
double chrf(const ChrfStatistics& statistics);

/// "chrF2", with a '+' for each order of words: "chrF2++".
std::string chrf_name(const ChrfOptions& options);

/// How the figure was computed, in sacreBLEU's form:
/// "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:V". `version` names the program that computed it,
/// without ':' and '|'.
std::string chrf_signature(const ChrfOptions& options, std::size_t references, const std::string& version);

}  // namespace rondo

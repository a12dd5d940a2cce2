// BLEU (Papineni et al. 2002), as sacreBLEU 2.6 computes it (Post 2018): how many n-grams of translations are
// in reference translations. Text is UTF-8, a sentence is one line. Read next: lm/evaluation/chrf.h, the same
// for characters; lm/commands/bleu.cpp, which uses both.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rondo {

/// What a word is.
enum class BleuTokenization {
  mteval_13a,  // words and punctuation, as in WMT's mteval-v13a.pl; for text that is not tokenized
  none,        // what lies between white space; for text that is tokenized
  characters   // each character but white space
};
/// As in signatures.
inline std::vector<std::string> names_of(BleuTokenization) { return {"13a", "none", "char"}; }

/// What stands in place of a count of zero (Chen & Cherry 2014).
enum class BleuSmoothing {
  exponential,  // of the orders without a match: 1/2, 1/4, ... (their method 3)
  none,         // nothing: BLEU is 0 if an order has no match
  floor,        // smoothing_value in place of 0 (method 1)
  add           // smoothing_value is added to all counts and totals above order 1 (method 2)
};
/// As in signatures.
inline std::vector<std::string> names_of(BleuSmoothing) { return {"exp", "none", "floor", "add-k"}; }

/// The defaults are sacreBLEU's.
struct BleuOptions {
  BleuTokenization tokenization = BleuTokenization::mteval_13a;
  bool lower_case = false;  // as far as lower_case() in data/unicode.h goes
  BleuSmoothing smoothing = BleuSmoothing::exponential;
  std::optional<double> smoothing_value{};  // default: 0.1 for floor, 1 for add
};

/// The words of a sentence. InputError if it is not UTF-8.
std::vector<std::u32string> bleu_words(std::string_view sentence, const BleuOptions& options);

constexpr std::size_t bleu_orders = 4;  // n-grams of one to four words

/// The counts of a sentence. Those of a corpus are the sum.
struct BleuStatistics {
  std::array<std::int64_t, bleu_orders> matches{};  // n-grams of the hypothesis that a reference has
  std::array<std::int64_t, bleu_orders> totals{};   // n-grams of the hypothesis
  std::int64_t hypothesis_length = 0;               // in words
  std::int64_t reference_length = 0;                // of the reference that is nearest in length

  BleuStatistics& operator+=(const BleuStatistics& other);
  bool operator==(const BleuStatistics&) const = default;
};

/// An n-gram matches as often as in the reference that has it most often. Of two references whose lengths are
/// equally near, the shorter one counts. InputError if there is no reference, or a text is not UTF-8.
BleuStatistics bleu_statistics(std::string_view hypothesis, std::span<const std::string_view> references,
                               const BleuOptions& options);

/// In per cent, 0 to 100; only the brevity penalty is 0 to 1.
struct Bleu {
  double score = 0;                              // 0 if no word matches
  std::array<double, bleu_orders> precisions{};  // smoothed; 0 if no word matches
  double brevity_penalty = 1;
};

/// The geometric mean of the precisions times the brevity penalty, exp(1 - r/c) for hypotheses of c words
/// that are shorter than the r words of the references. For a corpus, not the mean over sentences.
Bleu bleu(const BleuStatistics& statistics, const BleuOptions& options);

/// How the figure was computed, in sacreBLEU's form:
/// "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:V". `version` names the program that computed it,
/// without ':' and '|'.
std::string bleu_signature(const BleuOptions& options, std::size_t references, const std::string& version);

}  // namespace rondo

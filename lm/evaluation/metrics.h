// Metrics of texts: BLEU, chrF, and error rates of words and characters. They know no model.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rondo {

// --- BLEU ---
// BLEU (Papineni et al. 2002), as sacreBLEU 2.6 computes it (Post 2018): how many n-grams of translations
// are in reference translations. Text is UTF-8, a sentence is one line. `lm bleu` computes it and chrF:
// lm/commands/bleu.cpp.

/// What a word is.
enum class BleuTokenization {
  mteval_13a,  // words and punctuation, as in WMT's mteval-v13a.pl; for text that is not tokenized
  none,        // what lies between white space; for text that is tokenized
  characters   // each character but white space
};
/// The names are those of signatures.
inline std::vector<std::string> names_of(BleuTokenization) { return {"13a", "none", "char"}; }

/// The defaults are sacreBLEU's.
struct BleuOptions {
  BleuTokenization tokenization = BleuTokenization::mteval_13a;
  bool lower_case = false;  // by lower_case() of data/text/unicode.h
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

/// All numbers are in per cent, 0 to 100; the brevity penalty alone is 0 to 1.
struct Bleu {
  double score = 0;                              // 0 if no word matches
  std::array<double, bleu_orders> precisions{};  // smoothed; 0 if no word matches
  double brevity_penalty = 1;
};

/// The geometric mean of the precisions times the brevity penalty, exp(1 - r/c) for hypotheses of c words
/// that are shorter than the r words of the references. Of the orders without a match, 1/2, 1/4, ... stand in
/// place of the count 0 (Chen & Cherry 2014, method 3). For a corpus, not the mean over sentences.
Bleu bleu(const BleuStatistics& statistics);

/// How the figure was computed, in sacreBLEU's form:
/// "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:V". `version` names the program that computed it,
/// without ':' and '|'.
std::string bleu_signature(const BleuOptions& options, std::size_t references, const std::string& version);

// --- chrF ---
// chrF (Popovic 2015), as sacreBLEU 2.6 computes it: an F-score of the character n-grams that translations
// and references share. Text is UTF-8, a sentence is one line.

constexpr std::size_t chrf_orders = 6;            // n-grams of one to six characters, without white space
constexpr int chrf_beta = 2;                      // recall counts beta times as much as precision
constexpr const char* const chrf_name = "chrF2";  // with beta, as in signatures

/// The counts of a sentence, by order. Those of a corpus are the sum.
struct ChrfStatistics {
  struct Counts {
    std::int64_t hypothesis = 0, reference = 0, matches = 0;
  };
  std::array<Counts, chrf_orders> orders{};

  ChrfStatistics& operator+=(const ChrfStatistics& other);
};

/// Counts against the reference with the highest chrF, if there are several. `lower`: without regard to case,
/// as far as lower_case() in data/text/unicode.h goes. InputError if there is no reference, or a text is not
/// UTF-8.
ChrfStatistics chrf_statistics(std::string_view hypothesis, std::span<const std::string_view> references,
                               bool lower = false);

/// 0 to 100: the F-score of the mean precision and the mean recall over the orders that both sides have.
double chrf(const ChrfStatistics& statistics);

/// How the figure was computed, in sacreBLEU's form:
/// "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:V". `version` names the program that computed it,
/// without ':' and '|'.
std::string chrf_signature(bool lower, std::size_t references, const std::string& version);

// --- Error rate ---
// Error rates of transcripts: the fewest substitutions, insertions and deletions that make a reference into
// a hypothesis (Levenshtein 1966), as a share of the reference's length. Over a corpus both are summed
// before they are divided. WER is that of words, CER that of characters, as the Python package jiwer
// computes them. Text is UTF-8; nothing is normalised but white space. Used by evaluations of speech
// recognition.

/// The edits of a transcript. Those of a corpus are the sum.
struct EditCounts {
  int64_t substitutions = 0, insertions = 0, deletions = 0;
  int64_t reference = 0;  // symbols of the reference: words or characters

  int64_t edits() const { return substitutions + insertions + deletions; }
  /// edits() / reference: 0 for the same text; above 1 if much is inserted. InputError for references without
  /// symbols.
  double rate() const;
  EditCounts& operator+=(const EditCounts& other);
  bool operator==(const EditCounts&) const = default;
};

/// Counts the edits of words, which lie between white space (WER; jiwer: between spaces).
EditCounts word_edits(std::string_view reference, std::string_view hypothesis);
/// Counts the edits of code points, spaces included, but for white space at both ends (CER). InputError, as
/// for words, for text that is not UTF-8.
EditCounts character_edits(std::string_view reference, std::string_view hypothesis);

}  // namespace rondo

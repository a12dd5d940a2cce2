// BLEU, chrF, and error rates.
#include "lm/evaluation/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "data/text/unicode.h"
#include "tensor/error.h"
#include "tensor/keys.h"

namespace rondo {

// --- Matches of n-grams ---
// What BLEU and chrF count: the n-grams of a sentence, of words or of characters. For language models of
// n-grams see data/ngram/ngram_model.h.

namespace {

/// Each n-gram and how often it occurs.
using NgramCounts = std::unordered_map<std::u32string_view, std::int64_t>;

/// The n-grams of `order` symbols: code points, or words as numbers. The result is a view of `sentence`,
/// which must outlive it; empty if the sentence is shorter.
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

/// The n-grams that occur in both, each as often as in the one in which it is rarer.
std::int64_t matches(const NgramCounts& hypothesis, const NgramCounts& reference) {
  std::int64_t sum = 0;
  for (const auto& [ngram, count] : hypothesis) {
    const auto found = reference.find(ngram);
    if (found != reference.end()) sum += std::min(count, found->second);
  }
  return sum;
}

/// The numbers of words, each as a character: the same word has the same number in all sentences that are
/// compared.
using WordNumbers = std::unordered_map<std::u32string, char32_t>;

std::u32string numbers_of(const std::vector<std::u32string>& words, WordNumbers& numbers) {
  std::u32string result;
  for (const std::u32string& word : words)
    result += numbers.try_emplace(word, static_cast<char32_t>(numbers.size())).first->second;
  return result;
}

}  // namespace

// --- BLEU ---

std::vector<std::u32string> bleu_words(std::string_view sentence, const BleuOptions& options) {
  std::u32string text = code_points(sentence, "a sentence");
  if (options.lower_case) text = lower_case(text);
  if (options.tokenization == BleuTokenization::mteval_13a) return words_of_13a(text);
  if (options.tokenization == BleuTokenization::none) return split_at_white_space(text);
  std::vector<std::u32string> words;
  for (const char32_t c : text)
    if (!is_white_space(c)) words.emplace_back(1, c);
  return words;
}

BleuStatistics& BleuStatistics::operator+=(const BleuStatistics& other) {
  for (std::size_t n = 0; n < bleu_orders; ++n) {
    matches[n] += other.matches[n];
    totals[n] += other.totals[n];
  }
  hypothesis_length += other.hypothesis_length;
  reference_length += other.reference_length;
  return *this;
}

BleuStatistics bleu_statistics(std::string_view hypothesis, std::span<const std::string_view> references,
                               const BleuOptions& options) {
  check_input(!references.empty(), "BLEU: a sentence without a reference");
  WordNumbers numbers;
  const std::u32string translation = numbers_of(bleu_words(hypothesis, options), numbers);
  std::vector<std::u32string> expected;
  for (const std::string_view reference : references)
    expected.push_back(numbers_of(bleu_words(reference, options), numbers));

  BleuStatistics result;
  result.hypothesis_length = std::ssize(translation);
  const auto distance_and_length = [&](const std::u32string& reference) {
    return std::pair(std::abs(std::ssize(reference) - std::ssize(translation)), std::ssize(reference));
  };
  result.reference_length = std::ssize(std::ranges::min(expected, {}, distance_and_length));

  for (std::size_t n = 0; n < bleu_orders; ++n) {
    NgramCounts most;  // of all references
    for (const std::u32string& reference : expected)
      for (const auto& [ngram, count] : ngram_counts(reference, static_cast<int>(n) + 1))
        most[ngram] = std::max(most[ngram], count);
    const NgramCounts counts = ngram_counts(translation, static_cast<int>(n) + 1);
    result.matches[n] = matches(counts, most);
    result.totals[n] = total(counts);
  }
  return result;
}

Bleu bleu(const BleuStatistics& statistics) {
  Bleu result;
  const auto c = static_cast<double>(statistics.hypothesis_length);
  const auto r = static_cast<double>(statistics.reference_length);
  if (c < r) result.brevity_penalty = c > 0 ? std::exp(1 - r / c) : 0;
  const auto& counts = statistics.matches;
  if (std::ranges::all_of(counts, [](std::int64_t count) { return count == 0; })) return result;

  double halved = 1, log_sum = 0;
  for (std::size_t n = 0; n < bleu_orders; ++n) {
    const auto total = static_cast<double>(statistics.totals[n]);
    const double count = counts[n] > 0 ? static_cast<double>(counts[n]) : (halved /= 2);
    // Without n-grams that long, as in a sentence of three words, the precision is undefined, and BLEU is 0.
    if (total > 0) result.precisions[n] = 100 * count / total;
    log_sum += std::log(result.precisions[n]);
  }
  result.score = result.brevity_penalty * std::exp(log_sum / bleu_orders);
  return result;
}

std::string bleu_signature(const BleuOptions& options, std::size_t references, const std::string& version) {
  return fmt::format("nrefs:{}|case:{}|eff:no|tok:{}|smooth:exp|version:{}", references,
                     options.lower_case ? "lc" : "mixed", name_of(options.tokenization), version);
}

// --- chrF ---

namespace {

/// The characters of a sentence without white space.
std::u32string characters_of(std::string_view utf8, bool lower) {
  std::u32string text = code_points(utf8, "a sentence");
  if (lower) text = lower_case(text);
  std::erase_if(text, is_white_space);
  return text;
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
                               bool lower) {
  check_input(!references.empty(), "chrF: a sentence without a reference");
  const std::u32string translation = characters_of(hypothesis, lower);
  ChrfStatistics best;
  double best_score = -1;  // the first of equally good ones
  for (const std::string_view reference : references) {
    const std::u32string expected = characters_of(reference, lower);
    ChrfStatistics statistics;
    for (std::size_t i = 0; i < chrf_orders; ++i) {
      const int order = static_cast<int>(i) + 1;
      const NgramCounts translated = ngram_counts(translation, order), counts = ngram_counts(expected, order);
      // n-grams longer than the reference cannot match, and are not held against the translation.
      statistics.orders[i] = {counts.empty() ? 0 : total(translated), total(counts),
                              matches(translated, counts)};
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

std::string chrf_signature(bool lower, std::size_t references, const std::string& version) {
  return fmt::format("nrefs:{}|case:{}|eff:yes|nc:{}|nw:0|space:no|version:{}", references,
                     lower ? "lc" : "mixed", chrf_orders, version);
}

// --- Error rate ---

namespace {

/// Fewer edits first; of as many, those with more substitutions.
bool better(const EditCounts& a, const EditCounts& b) {
  return a.edits() != b.edits() ? a.edits() < b.edits() : a.substitutions > b.substitutions;
}

std::u32string without_white_space_at_ends(std::u32string text) {
  while (!text.empty() && is_white_space(text.back())) text.pop_back();
  text.erase(text.begin(), std::ranges::find_if_not(text, is_white_space));
  return text;
}

/// Chooses, of the ways with the fewest edits, one with the most substitutions. Time: the product of the
/// lengths.
EditCounts edit_counts(std::u32string_view reference, std::u32string_view hypothesis) {
  // row[j]: the first symbols of the reference against the first j of the hypothesis.
  std::vector<EditCounts> row(hypothesis.size() + 1);
  for (size_t j = 0; j < row.size(); ++j) row[j].insertions = static_cast<int64_t>(j);
  for (const char32_t symbol : reference) {
    EditCounts diagonal = row[0];
    ++row[0].deletions;
    for (size_t j = 1; j < row.size(); ++j) {
      EditCounts best = diagonal, inserted = row[j - 1], deleted = row[j];
      best.substitutions += symbol != hypothesis[j - 1];
      ++inserted.insertions;
      ++deleted.deletions;
      if (better(inserted, best)) best = inserted;
      if (better(deleted, best)) best = deleted;
      diagonal = std::exchange(row[j], best);
    }
  }
  row.back().reference = std::ssize(reference);
  return row.back();
}

}  // namespace

double EditCounts::rate() const {
  check_input(reference > 0, "the reference transcripts are empty: there is nothing to count errors of");
  return static_cast<double>(edits()) / static_cast<double>(reference);
}

EditCounts& EditCounts::operator+=(const EditCounts& other) {
  substitutions += other.substitutions;
  insertions += other.insertions;
  deletions += other.deletions;
  reference += other.reference;
  return *this;
}

EditCounts word_edits(std::string_view reference, std::string_view hypothesis) {
  WordNumbers numbers;
  const auto words_of = [&](std::string_view text, const char* name) {
    return numbers_of(split_at_white_space(code_points(text, name)), numbers);
  };
  const std::u32string expected = words_of(reference, "the reference");
  return edit_counts(expected, words_of(hypothesis, "the hypothesis"));
}

EditCounts character_edits(std::string_view reference, std::string_view hypothesis) {
  const std::u32string expected = without_white_space_at_ends(code_points(reference, "the reference"));
  return edit_counts(expected, without_white_space_at_ends(code_points(hypothesis, "the hypothesis")));
}

}  // namespace rondo

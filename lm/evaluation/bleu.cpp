// BLEU; see lm/evaluation/bleu.h.
#include "lm/evaluation/bleu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "data/unicode.h"
#include "lm/evaluation/ngram_matches.h"
#include "tensor/error.h"
#include "tensor/keys.h"

namespace rondo {
namespace {

void replace_all(std::u32string& text, std::u32string_view what, std::u32string_view with) {
  for (std::size_t at = text.find(what); at != std::u32string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

bool is_digit(char32_t c) { return U'0' <= c && c <= U'9'; }
bool is_point(char32_t c) { return c == U'.' || c == U','; }
bool is_dash(char32_t c) { return c == U'-'; }
/// ASCII punctuation, except apostrophe, comma, dash and full stop.
bool is_symbol(char32_t c) {
  const auto between = [c](char32_t first, char32_t last) { return first <= c && c <= last; };
  return between(U'!', U'&') || between(U'(', U'+') || c == U'/' || between(U':', U'@') ||
         between(U'[', U'`') || between(U'{', U'~');
}

/// Puts a space between neighbours `first` and `second`, one `before` them and one `after` them; from left to
/// right, and what has been a second is not a first.
template <class First, class Second>
std::u32string separate(std::u32string_view text, First first, Second second, std::u32string_view before,
                        std::u32string_view after) {
  std::u32string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (at + 1 == text.size() || !first(text[at]) || !second(text[at + 1])) {
      result += text[at];
      continue;
    }
    result += before;
    result += text[at];
    result += U' ';
    result += text[++at];
    result += after;
  }
  return result;
}

/// The steps of mteval-v13a.pl: symbols; full stops and commas, except between digits; the dash after a
/// digit.
std::vector<std::u32string> words_of_13a(std::u32string_view sentence) {
  std::u32string text(sentence);
  replace_all(text, U"<skipped>", U"");
  replace_all(text, U"&quot;", U"\"");
  replace_all(text, U"&amp;", U"&");
  replace_all(text, U"&lt;", U"<");
  replace_all(text, U"&gt;", U">");

  std::u32string spaced = U" ";
  for (const char32_t c : text) {
    if (is_symbol(c)) spaced += U' ';
    spaced += c;
    if (is_symbol(c)) spaced += U' ';
  }
  spaced += U' ';
  const auto no_digit = [](char32_t c) { return !is_digit(c); };
  spaced = separate(spaced, no_digit, is_point, U"", U" ");
  spaced = separate(spaced, is_point, no_digit, U" ", U"");
  spaced = separate(spaced, is_digit, is_dash, U"", U" ");
  return split_at_white_space(spaced);
}

double smoothing_value(const BleuOptions& options) {
  return options.smoothing_value.value_or(options.smoothing == BleuSmoothing::floor ? 0.1 : 1);
}

}  // namespace

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
  const std::u32string translation = numbers.of(bleu_words(hypothesis, options));
  std::vector<std::u32string> expected;
  for (const std::string_view reference : references)
    expected.push_back(numbers.of(bleu_words(reference, options)));

  BleuStatistics result;
  result.hypothesis_length = std::ssize(translation);
  const auto distance_and_length = [&](const std::u32string& reference) {
    return std::pair(std::abs(std::ssize(reference) - std::ssize(translation)), std::ssize(reference));
  };
  auto nearest = distance_and_length(expected.front());
  for (const std::u32string& reference : expected)
    nearest = std::min(nearest, distance_and_length(reference));
  result.reference_length = nearest.second;

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

Bleu bleu(const BleuStatistics& statistics, const BleuOptions& options) {
  Bleu result;
  const auto c = static_cast<double>(statistics.hypothesis_length);
  const auto r = static_cast<double>(statistics.reference_length);
  if (c < r) result.brevity_penalty = c > 0 ? std::exp(1 - r / c) : 0;
  const auto& counts = statistics.matches;
  if (std::all_of(counts.begin(), counts.end(), [](std::int64_t count) { return count == 0; })) return result;

  double halved = 1, log_sum = 0;
  for (std::size_t n = 0; n < bleu_orders; ++n) {
    const double added = options.smoothing == BleuSmoothing::add && n > 0 ? smoothing_value(options) : 0;
    double count = static_cast<double>(counts[n]) + added;
    const double total = static_cast<double>(statistics.totals[n]) + added;
    if (count == 0 && options.smoothing == BleuSmoothing::exponential) count = halved /= 2;
    if (count == 0 && options.smoothing == BleuSmoothing::floor) count = smoothing_value(options);
    // Without n-grams that long, as in a sentence of three words, the precision is undefined, and BLEU is 0.
    if (total > 0) result.precisions[n] = 100 * count / total;
    log_sum += std::log(result.precisions[n]);
  }
  result.score = result.brevity_penalty * std::exp(log_sum / bleu_orders);
  return result;
}

std::string bleu_signature(const BleuOptions& options, std::size_t references, const std::string& version) {
  const bool has_value = options.smoothing == BleuSmoothing::floor || options.smoothing == BleuSmoothing::add;
  return fmt::format("nrefs:{}|case:{}|eff:no|tok:{}|smooth:{}{}|version:{}", references,
                     options.lower_case ? "lc" : "mixed", name_of(options.tokenization),
                     name_of(options.smoothing),
                     has_value ? fmt::format("[{:.2f}]", smoothing_value(options)) : "", version);
}

}  // namespace rondo

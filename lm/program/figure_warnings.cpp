// Warnings that protect a figure.
#include "lm/program/figure_warnings.h"

#include <fmt/format.h>

#include <algorithm>

#include "data/symbols.h"
#include "data/text.h"

namespace rondo {

double UnknownShare::percent() const {
  return symbols > 0 ? 100.0 * static_cast<double>(unknowns) / static_cast<double>(symbols) : 0;
}

UnknownShare share_of(const Text& text, const Sentences& sentences, const Vocabulary& vocabulary,
                      bool is_predicted) {
  const std::optional<std::int32_t> unknown = vocabulary.unknown_id();
  return {text.name, unknown ? sentences.count(*unknown) : 0, sentences.symbols(), is_predicted};
}

std::string share_text(const UnknownShare& it) {
  return fmt::format("{:.2f} % of the {} symbols of {} are unknown to the vocabulary", it.percent(),
                     it.symbols, it.text);
}

std::string warning_of_unknowns(const UnknownShare& it) {
  constexpr double large = 10;  // percent
  if (!it.is_predicted || it.percent() <= large) return "";
  return fmt::format(
      "{}, and are predicted as {} alone: the figures do not compare with those of other vocabularies",
      share_text(it), unknown_symbol);
}

std::string warning_of_size(std::int64_t parameters, std::int64_t symbols) {
  constexpr std::int64_t many = 100;  // parameters of a symbol; those of AWD-LSTM on the Penn Treebank: 26
  if (symbols <= 0 || parameters / many <= symbols) return "";
  return fmt::format(
      "the training text has {} symbols for {} parameters, and will be memorised: take a longer text "
      "or a smaller model",
      symbols, parameters);
}

std::string warning_of_table(std::string_view text, const std::string& name) {
  constexpr std::size_t examined = 20;  // lines
  const std::size_t bytes = std::min<std::size_t>(text.size(), 1 << 16);
  std::vector<std::string_view> lines = split_lines(text.substr(0, bytes));
  if (lines.size() > examined) lines.resize(examined);
  constexpr std::size_t fewest = 5;
  if (lines.size() < fewest) return "";
  for (const char separator : {',', '\t'}) {
    const auto count = [&](std::string_view line) {
      bool in_quotes = false;
      std::int64_t found = 0;
      for (const char letter : line) {
        if (letter == '"') in_quotes = !in_quotes;
        found += letter == separator && !in_quotes;
      }
      return found;
    };
    const std::int64_t columns = count(lines.front());
    const auto has_them = [&](std::string_view line) { return count(line) == columns; };
    if (columns == 0 || !std::all_of(lines.begin(), lines.end(), has_them)) continue;
    return fmt::format(
        "{} looks like a table of {} columns: its separators, quotes and header will be learnt; write the "
        "column "
        "with the text to a file of its own",
        name, columns + 1);
  }
  return "";
}

}  // namespace rondo

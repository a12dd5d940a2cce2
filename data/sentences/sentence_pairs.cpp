// Pairs of sentences with a judgment; see data/sentences/sentence_pairs.h.
#include "data/sentences/sentence_pairs.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "data/files/file_kind.h"
#include "data/files/input_file.h"
#include "data/text/text.h"
#include "tensor/error.h"

namespace rondo {

namespace {

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  for (std::size_t begin = 0;;) {
    const std::size_t tab = line.find('\t', begin);
    cells.push_back(line.substr(begin, tab - begin));
    if (tab == std::string_view::npos) return cells;
    begin = tab + 1;
  }
}

/// Where the three columns are.
struct Places {
  std::size_t first, second, judgment;
};
std::optional<Places> places_of(const std::vector<std::string_view>& names, const PairColumns& columns) {
  const auto place = [&](const std::string& name) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  const Places places{place(columns.first), place(columns.second), place(columns.judgment)};
  if (std::max({places.first, places.second, places.judgment}) == names.size()) return std::nullopt;
  return places;
}

}  // namespace

JudgedPairs read_judged_pairs(const std::filesystem::path& file, const PairColumns& columns, double least,
                              double most, bool bare) {
  const std::string name = printable(file.string());
  constexpr std::uint64_t largest = 1 << 30;
  std::string raw = read_regular_file(file, largest);
  JudgedPairs pairs;
  pairs.sha256 = sha256_hex(raw);
  check_is_text(raw, name, conversion_to_utf8(raw));
  std::vector<std::string> ignored;
  const std::string text = normalise_text(std::move(raw), name, ignored);
  const std::vector<std::string_view> lines = split_lines(text);
  check_input(!lines.empty(), "{}: empty; it must hold pairs of sentences", name);
  std::optional<Places> places = places_of(cells_of(lines.front()), columns);
  const std::size_t header = places ? 1 : 0;
  if (!places && bare && cells_of(lines.front()).size() == 3) places = {1, 2, 0};
  check_input(
      places.has_value(),
      "{}: line 1: no columns {}, {} and {}, separated by tabs{}: is this the file that its name says?", name,
      columns.first, columns.second, columns.judgment, bare ? ", nor three columns without names" : "");
  for (std::size_t i = header; i < lines.size(); ++i) {
    const std::vector<std::string_view> cells = cells_of(lines[i]);
    check_input(cells.size() > std::max({places->first, places->second, places->judgment}),
                "{}: line {}: {} columns; too few", name, i + 1, cells.size());
    const std::string_view judgment = stripped(cells[places->judgment]);
    double value = 0;
    const auto [end, failure] = std::from_chars(judgment.data(), judgment.data() + judgment.size(), value);
    check_input(
        failure == std::errc() && end == judgment.data() + judgment.size() && value >= least && value <= most,
        "{}: line {}: '{}' is no judgment from {} to {}", name, i + 1, excerpt(judgment), least, most);
    const std::string_view first = stripped(cells[places->first]), second = stripped(cells[places->second]);
    check_input(!first.empty() && !second.empty(), "{}: line {}: an empty sentence", name, i + 1);
    pairs.first.emplace_back(first);
    pairs.second.emplace_back(second);
    pairs.judgments.push_back(value);
  }
  check_input(pairs.size() > 0, "{}: no pairs of sentences", name);
  return pairs;
}

}  // namespace rondo

// Tables in text files; see data/sentences/tables.h.
#include "data/sentences/tables.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "data/text/text.h"

namespace rondo {

// --- Pairs of sentences with a judgment ---

JudgedPairs read_judged_pairs(const std::filesystem::path& file, const PairColumns& columns, double least,
                              double most, bool bare) {
  Text text = read_sentences(file, Unit::words);
  const std::string& name = text.name;
  JudgedPairs pairs;
  pairs.sha256 = text.sha256;
  std::vector<std::string_view> lines = split_lines(text.content);
  const std::vector<std::string_view> names = split_fields(lines.front());
  const auto place_of = [&](const std::string& column) {
    return static_cast<std::size_t>(std::ranges::find(names, column) - names.begin());
  };
  std::size_t one = place_of(columns.first), other = place_of(columns.second),
              judged = place_of(columns.judgment), last = std::max({one, other, judged});
  const bool has_names = last < names.size(), is_bare = !has_names && bare && names.size() == 3;
  if (is_bare) one = 1, other = last = 2, judged = 0;
  check_input(
      has_names || is_bare,
      "{}: line 1: no columns {}, {} and {}, separated by tabs{}: is this the file that its name says?", name,
      columns.first, columns.second, columns.judgment, bare ? ", nor three columns without names" : "");
  if (has_names) lines.erase(lines.begin());
  check_input(!lines.empty(), "{}: no pairs of sentences", name);
  std::int64_t number = has_names ? 1 : 0;
  pairs.left_out = use_each(lines, "lines", [&](std::string_view line) {
    ++number;
    const std::vector<std::string_view> cells = split_fields(line);
    check_input(cells.size() > last, "{}: line {}: {} of {} columns", name, number, cells.size(), last + 1);
    const std::string_view judgment = stripped(cells[judged]);
    const std::optional<double> value = parse_number(judgment);
    check_input(value && *value >= least && *value <= most, "{}: line {}: '{}' is no judgment from {} to {}",
                name, number, excerpt(judgment), least, most);
    const std::string_view first = stripped(cells[one]), second = stripped(cells[other]);
    check_input(!first.empty() && !second.empty(), "{}: line {}: an empty sentence", name, number);
    pairs.first.emplace_back(first);
    pairs.second.emplace_back(second);
    pairs.judgments.push_back(*value);
  });
  return pairs;
}

// --- Word vectors ---

namespace {

/// The number that the text is, if it is one of 32 bits, as models have them.
std::optional<double> float_in(std::string_view text) {
  const std::optional<double> number = parse_number(text);
  return number && std::isfinite(static_cast<float>(*number)) ? number : std::nullopt;
}

}  // namespace

std::int64_t read_word_vectors(const std::filesystem::path& file,
                               const std::function<void(std::string_view, std::span<const double>)>& use) {
  const std::string name = printable(file.string());
  std::int64_t line_number = 0, vectors = 0;
  double announced = 0;  // vectors
  std::size_t width = 0;
  std::vector<double> numbers;
  read_lines(file, [&](std::string_view line, bool) {
    ++line_number;
    const std::vector<std::string_view> fields = split_words(line);
    if (line_number == 1 && fields.size() == 2 && float_in(fields[0])) {
      announced = *float_in(fields[0]);
      return;
    }
    const bool is_text = line.find('\0') == line.npos && replace_invalid_utf8(line) == line;
    const bool ends_in_number = !fields.empty() && float_in(fields.back());
    check_input(announced == 0 || vectors > 0 || is_text || ends_in_number,
                "{}: in the binary form of word2vec, and its text form is needed, which gensim makes: "
                "KeyedVectors.load_word2vec_format(FILE, binary=True).save_word2vec_format(NEW)",
                name);
    if (fields.empty()) return;
    if (width == 0) {
      width = fields.size() - 1;
      check_input(width > 0, "{}: line {}: the word '{}' has no numbers: a line is a word and its vector",
                  name, line_number, excerpt(fields[0]));
    }
    // A few words of GloVe's largest file contain spaces: what precedes the numbers is the word.
    const std::size_t first = fields.size() > width ? fields.size() - width : 0;
    const bool is_wider = first > 1 && float_in(fields[1]);
    check_input(first > 0 && !is_wider, "{}: line {}: {} numbers, and the vectors before have {}", name,
                line_number, fields.size() - 1, width);
    numbers.clear();
    for (std::size_t i = first; i < fields.size(); ++i) {
      const std::optional<double> number = float_in(fields[i]);
      check_input(number.has_value(), "{}: line {}: '{}' is no finite number of 32 bits", name, line_number,
                  excerpt(fields[i]));
      numbers.push_back(*number);
    }
    ++vectors;
    const std::string_view last = fields[first - 1];
    use({fields[0].data(), static_cast<std::size_t>(last.data() + last.size() - fields[0].data())}, numbers);
  });
  check_input(width > 0, "{}: no word vectors: a line is a word and its numbers", name);
  check_input(static_cast<double>(vectors) >= announced,
              "{}: {} vectors, and its first line announces {}: is the file complete?", name, vectors,
              announced);
  return static_cast<std::int64_t>(width);
}

}  // namespace rondo

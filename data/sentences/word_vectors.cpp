// Word vectors from text; see data/sentences/word_vectors.h.
#include "data/sentences/word_vectors.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

#include "data/files/files.h"
#include "data/text/text.h"
#include "tensor/error.h"

namespace rondo {

namespace {

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (std::size_t at = 0; at < line.size();) {
    if (is_space(line[at])) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    while (at < line.size() && !is_space(line[at])) ++at;
    fields.push_back(line.substr(begin, at - begin));
  }
  return fields;
}

std::optional<double> number_of(std::string_view field) {
  double number = 0;
  const char* const end = field.data() + field.size();
  const auto [read, failure] = std::from_chars(field.data(), end, number);
  // Models have numbers of 32 bits.
  if (read != end || failure != std::errc() || !std::isfinite(static_cast<float>(number)))
    return std::nullopt;
  return number;
}

}  // namespace

std::int64_t read_word_vectors(const std::filesystem::path& file,
                               const std::function<void(std::string_view, std::span<const double>)>& use) {
  const std::string name = printable(file.string());
  std::int64_t line_number = 0;
  std::size_t width = 0;
  std::vector<double> numbers;
  read_lines(file, [&](std::string_view line, bool) {
    ++line_number;
    const std::vector<std::string_view> fields = fields_of(line);
    const bool is_header = line_number == 1 && fields.size() == 2 && number_of(fields[0]);
    if (is_header || fields.empty()) return;
    if (width == 0) {
      width = fields.size() - 1;
      check_input(width > 0, "{}: line {}: the word '{}' has no numbers: a line is a word and its vector",
                  name, line_number, excerpt(fields[0]));
    }
    // A few words of GloVe's largest file contain spaces: what precedes the numbers is the word.
    const std::size_t first = fields.size() > width ? fields.size() - width : 0;
    const bool is_wider = first > 1 && number_of(fields[1]);
    check_input(first > 0 && !is_wider, "{}: line {}: {} numbers, and the vectors before have {}", name,
                line_number, fields.size() - 1, width);
    numbers.clear();
    for (std::size_t i = first; i < fields.size(); ++i) {
      const std::optional<double> number = number_of(fields[i]);
      check_input(number.has_value(), "{}: line {}: '{}' is no finite number of 32 bits", name, line_number,
                  excerpt(fields[i]));
      numbers.push_back(*number);
    }
    const std::string_view last = fields[first - 1];
    use({fields[0].data(), static_cast<std::size_t>(last.data() + last.size() - fields[0].data())}, numbers);
  });
  check_input(width > 0, "{}: no word vectors: a line is a word and its numbers", name);
  return static_cast<std::int64_t>(width);
}

}  // namespace rondo

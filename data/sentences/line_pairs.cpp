// Pairs of lines from the text of one language; see data/sentences/line_pairs.h.
#include "data/sentences/line_pairs.h"

#include "data/text/text.h"
#include "tensor/error.h"

namespace rondo {

TextPair pairs_of_text(const Text& text, PairsOf pairs) {
  if (pairs == PairsOf::lines) return {text, text};
  Text source = text, target = text;
  source.content.clear(), target.content.clear();
  const std::vector<std::string_view> lines = split_lines(text.content);
  bool has_pair = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string_view read = lines[i], written;
    if (pairs == PairsOf::next_lines) {
      const bool goes_on = i + 1 < lines.size() && !stripped(read).empty();
      if (goes_on && !stripped(lines[i + 1]).empty()) written = lines[i + 1];
    } else if (const auto words = words_of(read); words.size() > 1) {
      const std::string_view middle = words[(words.size() - 1) / 2], after = words[(words.size() + 1) / 2];
      written = read.substr(static_cast<std::size_t>(after.data() - read.data()));
      read = read.substr(0, static_cast<std::size_t>(middle.data() + middle.size() - read.data()));
    }
    has_pair |= !written.empty();
    ((source.content += read) += '\n');
    ((target.content += written) += '\n');
  }
  check_input(has_pair, "{}: {}", text.name,
              pairs == PairsOf::halves ? "no line has two words, and so none has halves"
                                       : "no line is followed by another one that is not empty");
  TextPair result(std::move(source), std::move(target));
  result.has_gaps = true;
  return result;
}

}  // namespace rondo

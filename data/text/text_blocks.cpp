// Blocks of a text.
#include "data/text/text_blocks.h"

#include <algorithm>
#include <utility>

#include "data/text/long_text.h"
#include "data/text/text.h"

namespace rondo {

/// After a line; else, where a line may be cut, after a space between words, or before a character. 0:
/// nowhere.
std::size_t BlockCutter::place_to_cut() const {
  const auto begin = text_.begin() + static_cast<std::ptrdiff_t>(searched_);
  const auto after_last = [&](auto is_separator, std::size_t end) -> std::size_t {
    for (std::size_t at = end; at > searched_; --at)
      if (is_separator(text_[at - 1])) return at;
    return 0;
  };
  if (std::find(begin, text_.end(), '\n') != text_.end())
    return after_last([](char c) { return c == '\n'; }, text_.size());
  if (tokenization_.strip_lines || tokenization_.unit == Unit::pieces) return 0;
  // Something must remain, or the line's end would not be known.
  if (tokenization_.unit == Unit::words) return after_last(is_space, text_.size() - 1);
  std::size_t at = text_.size() - 1;
  while (at > 0 && is_utf8(tokenization_.unit) && (text_[at] & 0xc0) == 0x80) --at;
  return at;
}

void BlockCutter::add(std::string_view part) {
  text_ += part;
  if (text_.size() < block_bytes_) return;
  const std::size_t at = place_to_cut();
  searched_ = at == 0 ? text_.size() - 1 : 0;
  if (at == 0) return;
  std::string rest = text_.substr(at);
  text_.resize(at);
  const LastLine last = text_.ends_with('\n') ? LastLine::ends : LastLine::goes_on;
  const std::int64_t lines = std::count(text_.begin(), text_.end(), '\n');
  use_({std::exchange(text_, std::move(rest)), last, std::exchange(lines_, lines_ + lines)});
}

void BlockCutter::end() {
  if (!text_.empty()) use_({std::exchange(text_, {}), LastLine::ends, lines_});
}

void read_blocks(const Text& text, const Tokenization& tokenization, const std::string& what,
                 const UseBlock& use) {
  if (text.source) return text.source->read(tokenization, what, use);
  constexpr std::size_t at_once = 1 << 20;
  BlockCutter cutter(tokenization, use);
  const std::string_view content = text.content;
  for (std::size_t at = 0; at < content.size(); at += at_once) cutter.add(content.substr(at, at_once));
  cutter.end();
}

}  // namespace rondo

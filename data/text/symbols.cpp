// Text to symbols and back; see data/text/symbols.h.
#include "data/text/symbols.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "data/text/pieces.h"
#include "data/text/unicode.h"
#include "tensor/error.h"

namespace rondo {

Keys keys_of(Tokenization& tokenization) {
  return {
      {"unit", choice(tokenization.unit), "what a symbol is"},
      {"strip_lines", &tokenization.strip_lines, "remove spaces at both ends of each line"},
      {"pieces_model", choice(tokenization.pieces_model), "for pieces: how they are learnt and chosen"},
      {"pieces", &tokenization.pieces, at_least(1), "symbols",
       "for pieces: how many, single bytes included; in place of min_count, max_size and unknown"},
      {"tokenize", &tokenization.tokenize,
       "for words: punctuation is separated from them, as `lm bleu` does (13a)"},
      {"lowercase", &tokenization.lowercase, "for all but bytes: upper-case letters are read as lower-case"},
  };
}

void check_options(const Tokenization& tokenization) {
  check_input(!tokenization.strip_lines || tokenization.unit != Unit::words,
              "strip_lines = true changes nothing for words: leave it out");
  check_input(!tokenization.tokenize || tokenization.unit == Unit::words,
              "tokenize = true separates words from punctuation, and the unit is {}: leave it out",
              name_of(tokenization.unit));
  check_input(!tokenization.lowercase || tokenization.unit != Unit::bytes,
              "lowercase = true changes letters, and bytes are read as they are: leave it out");
}

std::string_view line_end_symbol(Unit unit) {
  return unit == Unit::words ? eos_symbol : std::string_view("\n");
}

bool is_of_unit(std::string_view symbol, Unit unit) {
  if (symbol == unknown_symbol) return true;
  if (unit == Unit::words) return std::ranges::none_of(symbol, is_space);
  if (unit == Unit::pieces) return true;
  return symbol.size() == (unit == Unit::bytes ? 1 : utf8_length(symbol, 0));
}

std::string escape_symbol(std::string_view symbol) {
  std::string line;
  for (std::size_t at = 0; at < symbol.size();) {
    const auto byte = static_cast<unsigned char>(symbol[at]);
    const std::size_t length = utf8_length(symbol, at);
    if (byte == '\\') {
      line += "\\\\";
    } else if (byte == '\n') {
      line += "\\n";
    } else if (byte == '\t') {
      line += "\\t";
    } else if (length == 0 || byte <= ' ' || byte == 0x7f) {
      line += fmt::format("\\x{:02x}", byte);
    } else {
      line += symbol.substr(at, length);
    }
    at += std::max<std::size_t>(length, 1);
  }
  return line;
}

std::optional<std::string> unescape_symbol(std::string_view line) {
  std::string symbol;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] != '\\') {
      symbol += line[at];
      continue;
    }
    const std::string_view rest = line.substr(at + 1);
    if (rest.starts_with('\\') || rest.starts_with('n') || rest.starts_with('t')) {
      symbol += rest[0] == 'n' ? '\n' : rest[0] == 't' ? '\t' : '\\';
      at += 1;
    } else {
      unsigned char byte = 0;
      if (!rest.starts_with('x') || rest.size() < 3) return std::nullopt;
      if (std::from_chars(&rest[1], &rest[1] + 2, byte, 16).ptr != &rest[1] + 2) return std::nullopt;
      symbol += static_cast<char>(byte);
      at += 3;
    }
  }
  return symbol;
}

SymbolReader::SymbolReader(std::string_view text, Tokenization tokenization, std::string name, LastLine last,
                           const PieceModel* pieces)
    : text_(text),
      tokenization_(tokenization),
      name_(std::move(name)),
      last_(last),
      pieces_(pieces),
      changes_words_(tokenization.tokenize || tokenization.lowercase) {
  check(pieces_ || tokenization_.unit != Unit::pieces, "[symbols] {}: pieces need their model", name_);
}

void SymbolReader::open_line() {
  in_line_ = is_line_begin_ = true;
  ++line_;
  newline_ = content_end_ = std::min(text_.find('\n', at_), text_.size());
  if (!tokenization_.strip_lines) return;
  while (at_ < content_end_ && is_space(text_[at_])) ++at_;
  const bool goes_on = newline_ == text_.size() && last_ == LastLine::goes_on;
  while (!goes_on && content_end_ > at_ && is_space(text_[content_end_ - 1])) --content_end_;
}

std::size_t SymbolReader::symbol_length() const {
  if (tokenization_.unit == Unit::bytes) return 1;
  if (tokenization_.unit == Unit::characters) {
    const std::size_t length = utf8_length(text_, at_);
    if (length == 0) throw_not_utf8(text_, at_, name_);
    return length;
  }
  std::size_t end = at_;
  while (end < content_end_ && !is_space(text_[end])) ++end;
  return end - at_;
}

/// Of a word as it is written; of characters each is a word. What has no symbols is one itself.
std::vector<std::string> SymbolReader::symbols_of(const std::string& word) const {
  if (!changes_words_) return pieces_->split(word);
  if (word == unknown_symbol || word == eos_symbol) return {word};
  std::u32string text = code_points(word, name_);
  if (tokenization_.lowercase) text = lower_case(text);
  if (pieces_) return pieces_->split(utf8_of(text));
  std::vector<std::string> symbols;
  if (tokenization_.tokenize)
    for (const std::u32string& it : words_of_13a(text)) symbols.push_back(utf8_of(it));
  else if (tokenization_.unit == Unit::characters)
    for (const char32_t it : text) symbols.push_back(utf8_of({&it, 1}));
  if (symbols.empty()) symbols.push_back(utf8_of(text));
  return symbols;
}

void SymbolReader::open_word() {
  const std::string_view line = text_.substr(0, content_end_);
  std::string word = pieces_ && is_line_begin_ ? " " : "";
  const std::size_t end = at_ + (pieces_ ? word_length(line, at_) : symbol_length());
  for (std::size_t at = at_; at < end; at += utf8_length(text_, at))
    if (utf8_length(text_, at) == 0) throw_not_utf8(text_, at, name_);
  word += line.substr(at_, end - at_);
  at_ = end;
  is_line_begin_ = false;

  constexpr std::size_t most = 1 << 18;  // of some 100 bytes each
  if (words_.size() == most) words_.clear();
  const auto [entry, is_new] = words_.try_emplace(std::move(word));
  if (is_new) entry->second = symbols_of(entry->first);
  word_ = &entry->second;
  piece_ = 0;
}

std::size_t SymbolReader::position() const {
  std::size_t position = at_;
  if (word_ && !changes_words_)
    for (std::size_t i = piece_; i < word_->size(); ++i) position -= (*word_)[i].size();
  return position;
}

std::optional<std::string_view> SymbolReader::next() {
  const bool words = tokenization_.unit == Unit::words;
  if (word_ && piece_ < word_->size()) return (*word_)[piece_++];
  if (!in_line_) {
    if (at_ == text_.size()) return std::nullopt;
    open_line();
  }
  while (words && at_ < content_end_ && is_space(text_[at_])) ++at_;
  if (at_ < content_end_ && (pieces_ || changes_words_)) {
    open_word();
    return (*word_)[piece_++];
  }
  if (at_ < content_end_) {
    const std::string_view symbol = text_.substr(at_, symbol_length());
    at_ += symbol.size();
    return symbol;
  }

  in_line_ = false;
  const bool has_newline = newline_ < text_.size();
  at_ = has_newline ? newline_ + 1 : text_.size();
  const bool ends_by_itself = (words || tokenization_.strip_lines) && last_ == LastLine::ends;
  if (has_newline || ends_by_itself) return line_end_symbol(tokenization_.unit);
  return std::nullopt;
}

std::string SymbolWriter::next(std::string_view symbol) {
  if (unit_ == Unit::pieces) {
    const bool is_first = std::exchange(line_start_, symbol.ends_with('\n'));
    return std::string(symbol.substr(is_first && symbol.starts_with(' ') ? 1 : 0));
  }
  if (unit_ != Unit::words) return std::string(symbol);
  const bool space = !std::exchange(line_start_, symbol == eos_symbol);
  if (symbol == eos_symbol) return "\n";
  return (space ? " " : "") + std::string(symbol);
}

}  // namespace rondo

// Text to symbols and back; see data/symbols.h.
#include "data/symbols.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "data/text.h"
#include "tensor/error.h"

namespace rondo {

Keys keys_of(Tokenization& tokenization) {
  return {
      {"unit", choice(tokenization.unit), {}, "", "what a symbol is"},
      {"strip_lines", &tokenization.strip_lines, {}, "", "remove spaces at both ends of each line"},
  };
}

void check_options(const Tokenization& tokenization) {
  check_input(!tokenization.strip_lines || tokenization.unit != Unit::words,
              "strip_lines = true changes nothing for words: leave it out");
}

std::string_view line_end_symbol(Unit unit) {
  return unit == Unit::words ? eos_symbol : std::string_view("\n");
}

bool is_of_unit(std::string_view symbol, Unit unit) {
  if (symbol == unknown_symbol) return true;
  if (unit == Unit::words) return std::none_of(symbol.begin(), symbol.end(), is_space);
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

Text clean_text(std::string raw, const std::string& name, Unit unit) {
  Text text{.name = printable(name), .content = {}, .sha256 = sha256_hex(raw), .notes = {}};
  // Checked before normalising, so that the offset in the message is the file's.
  if (unit == Unit::characters) check_utf8(raw, text.name);
  text.content = unit == Unit::bytes ? std::move(raw) : normalise_text(std::move(raw), text.name, text.notes);
  check_input(!text.content.empty(), "{}: empty; it must hold text", text.name);
  return text;
}

Text read_text(const std::filesystem::path& path, Unit unit) {
  return clean_text(read_file(path), path.string(), unit);
}

SymbolReader::SymbolReader(std::string_view text, Tokenization tokenization, std::string name, LastLine last)
    : text_(text), tokenization_(tokenization), name_(std::move(name)), last_(last) {}

void SymbolReader::open_line() {
  in_line_ = true;
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

std::optional<std::string_view> SymbolReader::next() {
  const bool words = tokenization_.unit == Unit::words;
  if (!in_line_) {
    if (at_ == text_.size()) return std::nullopt;
    open_line();
  }
  while (words && at_ < content_end_ && is_space(text_[at_])) ++at_;
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
  if (unit_ != Unit::words) return std::string(symbol);
  const bool space = !std::exchange(line_start_, symbol == eos_symbol);
  if (symbol == eos_symbol) return "\n";
  return (space ? " " : "") + std::string(symbol);
}

}  // namespace rondo

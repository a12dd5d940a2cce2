// Texts; see data/text/text.h.
#include "data/text/text.h"

#include <algorithm>

#include "tensor/keys.h"

namespace rondo {

std::string Normaliser::next(std::string part) {
  constexpr int lead = 0xc0;  // the upper two bits of a byte that begins a character of several
  if (bytes_ == 0 && held_.empty() && unit_ != Unit::bytes) check_kind(part, name_);
  held_ = held_.empty() ? std::move(part) : held_ + part;
  std::size_t end = held_.size();
  while (end > 0 && held_.size() - end < 3 && continues_character(held_[end - 1])) --end;
  if (end > 0 && (held_[end - 1] == '\r' || (held_[end - 1] & lead) == lead)) --end;
  return normalised(end);
}

std::string Normaliser::normalised(std::size_t bytes) {
  std::string rest = held_.substr(bytes);
  held_.resize(bytes);
  std::string text = std::exchange(held_, std::move(rest));
  if (is_utf8(unit_)) check_utf8(text, name_, bytes_, lines_);
  const bool has_mark = bytes_ == 0 && unit_ != Unit::bytes && text.starts_with(byte_order_mark);
  bytes_ += std::ssize(text);
  lines_ += std::ranges::count(text, '\n');
  if (unit_ == Unit::bytes) return text;
  if (has_mark) text.erase(0, byte_order_mark.size());
  had_mark_ |= has_mark;
  std::size_t i = text.find("\r\n");
  if (i == std::string::npos) return text;
  std::size_t kept = i;
  for (; i < text.size(); ++i) {
    const bool before_newline = text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n';
    if (!before_newline) text[kept++] = text[i];
  }
  line_ends_ += std::ssize(text) - static_cast<std::int64_t>(kept);
  text.resize(kept);
  return text;
}

std::vector<std::string> Normaliser::notes() const {
  std::vector<std::string> notes;
  if (had_mark_) notes.push_back(fmt::format("{}: a byte-order mark was removed", name_));
  if (line_ends_ > 0)
    notes.push_back(fmt::format("{}: {} line ends CRLF were read as LF", name_, line_ends_));
  return notes;
}

std::string TextFile::read() {
  std::string part;
  while (part.empty() && !ended_) {
    std::string raw = UnpackedFile::read();
    ended_ = raw.empty();
    part = ended_ ? normaliser_.end() : normaliser_.next(std::move(raw));
  }
  return part;
}

namespace {
void check_length(std::size_t of_line, const std::string& name) {
  check_input(of_line <= longest_line, "{}: a line of more than {} bytes: another file?", name, longest_line);
}

void check_has_text(const Text& text) {
  check_input(!text.content.empty(), "{}: empty; it must hold text", text.name);
}

}  // namespace

Text normalised(std::string raw, const std::string& name, Unit unit) {
  Text text{.name = printable(name), .sha256 = sha256_hex(raw)};
  Normaliser normaliser(text.name, unit);
  text.content = normaliser.next(std::move(raw));
  text.content += normaliser.end();
  text.notes = normaliser.notes();
  return text;
}

Text read_text(const std::filesystem::path& path, Pipes pipes, std::uint64_t most, Unit unit) {
  Text text = normalised(read_file(path, pipes, most), path.string(), unit);
  for (std::size_t at = 0, end; at < text.content.size(); at = end + 1) {
    end = std::min(text.content.find('\n', at), text.content.size());
    check_length(end - at, text.name);
  }
  return text;
}

void read_lines(const std::filesystem::path& path,
                const std::function<void(std::string_view, bool ended)>& use) {
  TextFile file(path);
  std::string rest;  // the start of a line that ends in a later part
  for (std::string part = file.read(); !part.empty(); part = file.read()) {
    std::string_view left = part;
    for (std::size_t end; (end = left.find('\n')) != std::string_view::npos; left.remove_prefix(end + 1)) {
      rest += left.substr(0, end);
      use(rest, true);
      rest.clear();
    }
    rest += left;
    check_length(rest.size(), printable(path.string()));
  }
  if (!rest.empty()) use(rest, false);
}

Text clean_text(std::string raw, const std::string& name, Unit unit) {
  Text text = normalised(std::move(raw), name, unit);
  check_has_text(text);
  return text;
}

Text read_sentences(const std::filesystem::path& path, Unit unit, const std::string& advice) try {
  // Words are not divided at characters, but what is not UTF-8 is refused where it is in the file.
  Text text = read_text(path, Pipes::refused, any_size, unit == Unit::bytes ? unit : Unit::characters);
  check_sentences(text, unit);
  return text;
} catch (const NotUtf8& error) {
  throw InputError(error.what() + advice);
}

void check_sentences(const Text& text, Unit unit) {
  if (unit != Unit::bytes) check_is_text(text.content, text.name);
  check_has_text(text);
}

std::vector<std::vector<std::string_view>> split_sentences(std::string_view passage) {
  std::vector<std::vector<std::string_view>> sentences;
  bool begins = true;
  for (const std::string_view word : split_words(passage)) {
    if (begins) sentences.emplace_back();
    sentences.back().push_back(word);
    begins = word == "." || word == "?" || word == "!";
  }
  return sentences;
}

std::string note_of_missing_test(const std::filesystem::path& path, std::string_view key) {
  return fmt::format("{}: no such file, and so no test text{}", printable(path.string()),
                     key.empty() ? "" : fmt::format(" ({})", key));
}

Split split_from_string(std::string_view name) {
  const std::optional<Split> split = value_named<Split>(name);
  check_input(split.has_value(), "'{}' is no split: choose train, valid or test", name);
  return *split;
}

}  // namespace rondo

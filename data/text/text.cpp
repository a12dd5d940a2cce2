// Texts; see data/text/text.h.
#include "data/text/text.h"

#include <algorithm>

#include "tensor/keys.h"

namespace rondo {

std::string Normaliser::next(std::string_view part) {
  constexpr int continuation = 0x80, lead = 0xc0;  // in the upper two bits of bytes of UTF-8
  held_ += part;
  std::size_t end = held_.size();
  while (end > 0 && held_.size() - end < 3 && (held_[end - 1] & lead) == continuation) --end;
  if (end > 0 && (held_[end - 1] == '\r' || (held_[end - 1] & lead) == lead)) --end;
  return normalised(end);
}

std::string Normaliser::normalised(std::size_t bytes) {
  std::string text = held_.substr(0, bytes);
  held_.erase(0, bytes);
  if (is_utf8(unit_)) check_utf8(text, name_, bytes_, lines_);
  constexpr std::string_view mark = "\xef\xbb\xbf";
  const bool has_mark = bytes_ == 0 && unit_ != Unit::bytes && text.starts_with(mark);
  bytes_ += std::ssize(text);
  lines_ += std::count(text.begin(), text.end(), '\n');
  if (unit_ == Unit::bytes) return text;
  if (has_mark) text.erase(0, mark.size());
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

std::string normalise_text(std::string_view text, const std::string& name, std::vector<std::string>& notes) {
  Normaliser normaliser(name, Unit::words);
  std::string normalised = normaliser.next(text);
  normalised += normaliser.end();
  for (std::string& note : normaliser.notes()) notes.push_back(std::move(note));
  return normalised;
}

Text clean_text(std::string raw, const std::string& name, Unit unit) {
  Text text{.name = printable(name), .sha256 = sha256_hex(raw)};
  if (unit != Unit::bytes) check_kind(raw, text.name);
  Normaliser normaliser(text.name, unit);
  text.content = normaliser.next(raw);
  text.content += normaliser.end();
  text.notes = normaliser.notes();
  check_input(!text.content.empty(), "{}: empty; it must hold text", text.name);
  return text;
}

Text clean_sentences(std::string raw, const std::string& name, Unit unit) {
  if (unit != Unit::bytes) {
    check_kind(raw, printable(name));
    check_is_text(raw, printable(name));
  }
  return clean_text(std::move(raw), name, unit);
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

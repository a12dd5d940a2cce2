// Files and text; see data/text/text.h.
#include "data/text/text.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <utility>

#include "data/files/file_kind.h"
#include "tensor/error.h"

namespace rondo {

std::string read_file(const std::filesystem::path& path, std::size_t most) {
  const std::string name = path.string();
  std::error_code ignored;
  check_input(!std::filesystem::is_directory(path, ignored), "{}: a folder, where a file is expected", name);
  const bool endless =
      std::filesystem::is_character_file(path, ignored) || std::filesystem::is_block_file(path, ignored);
  check_input(!endless, "{}: a device, where a file is expected", name);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(name.c_str(), "rb"), &std::fclose);
  check_system<InputError>(file != nullptr, "{}: cannot be opened", name);

  std::string bytes;
  std::array<char, 1 << 16> buffer;
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
    check_input(count <= most - bytes.size(), "{}: more than {} bytes: another file?", name, most);
    bytes.append(buffer.data(), count);
  }
  check_system<InputError>(!std::ferror(file.get()), "{}: cannot be read", name);
  return bytes;
}

namespace {
void check_digest(bool done) { check(done, "[sha256] libcrypto refused to compute a digest"); }
}  // namespace

Sha256::Sha256() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
  check_digest(context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
}

void Sha256::update(std::string_view bytes) {
  check_digest(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
}

std::string Sha256::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int length = 0;
  check_digest(EVP_DigestFinal_ex(context_.get(), digest.data(), &length) == 1);
  std::string text;
  for (unsigned int i = 0; i < length; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 digest;
  digest.update(bytes);
  return digest.hex();
}

std::string Normaliser::next(std::string text) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  if (std::exchange(is_first_, false) && text.starts_with(mark)) {
    text.erase(0, mark.size());
    had_mark_ = true;
  }
  if (std::exchange(holds_return_, false)) text.insert(0, "\r");
  if (text.ends_with('\r')) {
    text.pop_back();
    holds_return_ = true;
  }
  std::size_t i = text.find("\r\n");
  if (i == std::string::npos) return text;
  std::size_t kept = i;
  for (; i < text.size(); ++i) {
    const bool before_newline = text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n';
    if (!before_newline) text[kept++] = text[i];
  }
  line_ends_ += text.size() - kept;
  text.resize(kept);
  return text;
}

std::string Normaliser::end() { return std::exchange(holds_return_, false) ? "\r" : ""; }

void Normaliser::note(const std::string& name, std::vector<std::string>& notes) const {
  if (had_mark_) notes.push_back(fmt::format("{}: a byte-order mark was removed", name));
  if (line_ends_ > 0) notes.push_back(fmt::format("{}: {} line ends CRLF were read as LF", name, line_ends_));
}

std::string normalise_text(std::string text, const std::string& name, std::vector<std::string>& notes) {
  Normaliser normaliser;
  text = normaliser.next(std::move(text));
  text += normaliser.end();
  normaliser.note(name, notes);
  return text;
}

std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (length == 0 || text.size() - at < length) return 0;

  // Only the second byte has a special range, which excludes overlong forms, surrogates and code points above
  // U+10FFFF.
  const unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i)
    if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
  return length;
}

void check_utf8(std::string_view text, const std::string& name) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    if (length == 0) throw_not_utf8(text, at, name);
    at += length;
  }
}

namespace {

const char* encoding_hint(std::string_view text) {
  return looks_like_utf16(text) ? ", looks like UTF-16" : "";
}

}  // namespace

void Utf8Check::add(std::string_view part) {
  rest_ += part;
  check(false);
}
void Utf8Check::end() { check(true); }

void Utf8Check::check(bool is_last) {
  constexpr std::size_t longest = 4;
  std::size_t at = 0;
  while (at < rest_.size()) {
    const std::size_t length = utf8_length(rest_, at);
    if (length == 0 && !is_last && rest_.size() - at < longest) break;  // perhaps only a part of it has come
    if (length == 0) throw_not_utf8(rest_, at, name_, bytes_, lines_);
    at += length;
  }
  bytes_ += at;
  lines_ += std::count(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  rest_.erase(0, at);
}

void throw_not_utf8(std::string_view text, std::size_t at, const std::string& name, std::size_t bytes_before,
                    std::int64_t lines_before) {
  const auto line =
      1 + lines_before + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  throw NotUtf8(fmt::format("{}: not UTF-8 at byte {} (line {}): 0x{:02x}{}; {}", name, bytes_before + at,
                            line, static_cast<unsigned char>(text[at]), encoding_hint(text),
                            conversion_to_utf8(text)));
}

void check_is_text(std::string_view text, const std::string& name, const std::string& convert) {
  std::int64_t line = 1;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    check_input(length > 0, "{}: line {}: the byte 0x{:02x} is not UTF-8{}: {}", name, line,
                static_cast<unsigned char>(text[at]), encoding_hint(text), convert);
    check_input(text[at] != '\0', "{}: line {}: a NUL byte, which text does not have: is it another file?",
                name, line);
    line += text[at] == '\n';
    at += length;
  }
}

std::string replace_invalid_utf8(std::string_view text) {
  std::string valid;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    valid += length > 0 ? text.substr(at, length) : "\xef\xbf\xbd";
    at += std::max<std::size_t>(length, 1);
  }
  return valid;
}

std::string printable(std::string_view text) {
  std::string line;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    const std::string_view character = text.substr(at, std::max<std::size_t>(length, 1));
    const auto first = static_cast<unsigned char>(character[0]);
    // Unicode's category Cc: U+0000 to U+001F, and U+007F to U+009F.
    const bool is_control =
        first < 0x20 || first == 0x7f || (character >= "\xc2\x80" && character <= "\xc2\x9f");
    if (length > 0 && !is_control)
      line += character;
    else
      for (const char byte : character) line += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    at += character.size();
  }
  return line;
}

std::string excerpt(std::string_view text) {
  constexpr std::size_t most = 100;
  if (text.size() <= most) return printable(text);
  std::size_t end = most;
  while (end > most - 4 && (text[end] & 0xc0) == 0x80) --end;  // do not cut a character
  return printable(text.substr(0, end)) + "...";
}

std::string note_of_missing_test(const std::filesystem::path& path, std::string_view key) {
  return fmt::format("{}: no such file, and so no test text{}", printable(path.string()),
                     key.empty() ? "" : fmt::format(" ({})", key));
}

std::string_view stripped(std::string_view line) {
  while (!line.empty() && is_space(line.front())) line.remove_prefix(1);
  while (!line.empty() && is_space(line.back())) line.remove_suffix(1);
  return line;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    while (at < text.size() && !is_space(text[at])) ++at;
    if (at > begin) words.push_back(text.substr(begin, at - begin));
    ++at;
  }
  return words;
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace rondo

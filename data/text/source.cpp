// Texts that may be too long to be held in memory. POSIX calls: the standard library maps no files.
#include "data/text/source.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "data/files/files.h"
#include "tensor/error.h"

namespace rondo {

// --- Blocks ---

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
  while (at > 0 && is_utf8(tokenization_.unit) && continues_character(text_[at])) --at;
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
  const std::int64_t lines = std::ranges::count(text_, '\n');
  use_({std::exchange(text_, std::move(rest)), last, std::exchange(lines_, lines_ + lines)});
}

void BlockCutter::end() {
  if (!text_.empty()) use_({std::exchange(text_, {}), LastLine::ends, lines_});
}

void read_blocks(const Text& text, const Tokenization& tokenization, const std::string& what,
                 const UseBlock& use) {
  BlockCutter cutter(tokenization, use);
  if (text.source) text.source->read_pieces(what, [&](std::string_view piece) { cutter.add(piece); });
  constexpr std::size_t at_once = 1 << 20;
  const std::string_view content = text.content;
  for (std::size_t at = 0; at < content.size(); at += at_once) cutter.add(content.substr(at, at_once));
  cutter.end();
}

// --- Files ---

namespace {

/// Passes on the lines of those blocks that are held out, or of the others; `line` is that of the piece.
void use_blocks(const TextPart& part, std::string_view piece, std::int64_t& line,
                const std::function<void(std::string_view)>& use) {
  while (!piece.empty()) {
    const bool is_held_out = line / part.block_lines % blocks_per_held_out == blocks_per_held_out - 1;
    const std::size_t newline = piece.find('\n');
    const std::string_view text = piece.substr(0, newline == piece.npos ? newline : newline + 1);
    if (is_held_out == part.is_held_out) use(text);
    line += newline != piece.npos;
    piece.remove_prefix(text.size());
  }
}

}  // namespace

TextSource::TextSource(const std::vector<std::filesystem::path>& paths, Unit unit, bool ends_lines,
                       const TextReading& reading, Pipes pipes)
    : unit_(unit),
      ends_lines_(ends_lines),
      progress_(reading.progress),
      content_(std::make_shared<std::string>()) {
  for (const std::filesystem::path& path : paths) files_.push_back({path.string(), ""});
  std::error_code ignored;
  const bool is_pipe = pipes == Pipes::accepted && std::filesystem::is_fifo(paths.front(), ignored);
  if (!is_pipe)
    for (const FileDigest& it : files_) disk_bytes_ += static_cast<std::int64_t>(InputFile(it.path).size());
  std::int64_t read = 0;
  for (FileDigest& it : files_) {
    TextFile file(it.path, unit, Pipes::accepted);  // InputFile has refused others
    const std::uint64_t bytes_before = bytes_;
    const std::string sha256 = read_file(file, "reading", read, [&](std::string_view piece) {
      bytes_ += piece.size();
      lines_ += std::ranges::count(piece, '\n');
      if (bytes_ > reading.most_in_memory && !is_pipe) content_.reset();
      if (content_) *content_ += piece;
    });
    if (bytes_ > bytes_before) it.sha256 = sha256;
    for (std::string& note : file.notes()) notes_.push_back(std::move(note));
  }
  check_input(bytes_ > 0, "{}: empty; it must hold text", name());
  std::erase_if(files_, [](const FileDigest& it) { return it.sha256.empty(); });
}

std::string TextSource::name() const {
  const std::string first = printable(files_.front().path);
  return files_.size() == 1 ? first : fmt::format("{} and {} more", first, files_.size() - 1);
}

Text TextSource::text(const std::string& name, const TextPart& part) const {
  Text text{.name = name, .sha256 = files_.front().sha256};
  const auto source = std::make_shared<TextSource>(*this);
  source->part_ = part;
  if (content_)
    source->read_pieces("", [&](std::string_view piece) { text.content += piece; });
  else
    text.source = source;
  return text;
}

std::string TextSource::read_file(TextFile& file, const std::string& what, std::int64_t& read,
                                  const std::function<void(std::string_view)>& use) const {
  char last = '\n';
  for (std::string part = file.read(); !part.empty(); part = file.read()) {
    last = part.back();
    use(part);
    if (progress_ && !content_)
      progress_(what, read + static_cast<std::int64_t>(file.position()), disk_bytes_);
  }
  if (ends_lines_ && last != '\n') use("\n");
  read += static_cast<std::int64_t>(file.size());
  return file.sha256();
}

void TextSource::read_pieces(const std::string& what,
                             const std::function<void(std::string_view)>& use) const {
  std::uint64_t position = 0;
  std::int64_t line = 0;
  const auto pass = [&](std::string_view piece) {
    if (part_.block_lines > 0) return use_blocks(part_, piece, line, use);
    const std::uint64_t end = position + piece.size();
    const std::uint64_t first = std::clamp(part_.begin, position, end),
                        behind = std::clamp(part_.end, first, end);
    if (first < behind) use(piece.substr(first - position, behind - first));
    position = end;
  };
  if (content_) return pass(*content_);
  std::int64_t read = 0;
  for (const FileDigest& it : files_) {
    TextFile file(it.path, unit_, Pipes::accepted);
    check_input(read_file(file, what, read, pass) == it.sha256,
                "{}: it was changed while it was read; start again when it is complete", printable(it.path));
  }
}

std::string TextSource::key() const {
  std::string all = fmt::format("{} {} {}-{} {} {}\n", name_of(unit_), ends_lines_, part_.begin, part_.end,
                                part_.block_lines, part_.is_held_out);
  for (const FileDigest& file : files_) all += fmt::format("{} {}\n", is_packed(file.path), file.sha256);
  return sha256_hex(all);
}

// --- Ids ---

namespace {

/// After the ids.
struct Footer {
  std::array<char, 64> sha256{};  // hexadecimal
  IdCounts counts{};
};

}  // namespace

TextIds::TextIds(std::vector<std::int32_t> ids) {
  const auto held = std::make_shared<const std::vector<std::int32_t>>(std::move(ids));
  *this = {{held, held->data()}, held->size()};
}

void write_ids(const std::filesystem::path& path, const std::function<IdCounts(const PassIds&)>& write) {
  write_atomically(path, [&](const WritePiece& write_piece) {
    Sha256 digest;
    Footer footer;
    footer.counts = write([&](std::span<const std::int32_t> part) {
      digest.update(bytes_of(part));
      write_piece(bytes_of(part));
    });
    digest.update(bytes_of(std::span<const IdCounts>(&footer.counts, 1)));
    digest.hex().copy(footer.sha256.data(), footer.sha256.size());
    write_piece(bytes_of(std::span<const Footer>(&footer, 1)));
  });
}

std::optional<EncodedText> map_ids(const std::filesystem::path& path) try {
  const InputFile file(path);
  if (file.size() < sizeof(Footer) || (file.size() - sizeof(Footer)) % sizeof(std::int32_t) != 0) return {};
  const std::uint64_t bytes = file.size() - sizeof(Footer);
  Footer footer;
  file.read(bytes, {reinterpret_cast<char*>(&footer), sizeof footer});
  const std::string_view sha256(footer.sha256.data(), footer.sha256.size());
  if (sha256 != sha256_hex(file, 0, bytes, bytes_of(std::span<const IdCounts>(&footer.counts, 1)))) return {};

  if (bytes == 0) return EncodedText{{}, footer.counts};
  const OpenFile opened(path, O_RDONLY);
  check_system(opened.is_open(), "{}: cannot be opened", path.native());
  void* const memory = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, opened, 0);
  check(memory != MAP_FAILED, "{}: cannot be mapped: there is no room for its {} bytes", path.string(),
        bytes);
  const std::shared_ptr<const std::int32_t> ids(static_cast<const std::int32_t*>(memory),
                                                [memory, bytes](auto) { munmap(memory, bytes); });
  return EncodedText{{ids, bytes / sizeof(std::int32_t)}, footer.counts};
} catch (const InputError&) {
  return {};
}

}  // namespace rondo

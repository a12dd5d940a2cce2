// Texts that are not held in memory.
#include "data/text/long_text.h"

#include <algorithm>
#include <utility>

#include "data/files/file_kind.h"
#include "data/files/input_file.h"
#include "tensor/error.h"

namespace rondo {
namespace {

/// Passes on the lines of those blocks that are held out, or of the others.
class BlockSelection {
 public:
  BlockSelection(const LongText::Part& part, std::function<void(std::string_view)> use)
      : part_(part), use_(std::move(use)) {}

  void add(std::string_view piece) {
    while (!piece.empty()) {
      const bool is_held_out = line_ / part_.block_lines % blocks_per_held_out == blocks_per_held_out - 1;
      const std::size_t newline = piece.find('\n');
      const std::string_view line =
          piece.substr(0, newline == std::string_view::npos ? newline : newline + 1);
      if (is_held_out == part_.is_held_out) use_(line);
      line_ += newline != std::string_view::npos;
      piece.remove_prefix(line.size());
    }
  }

 private:
  LongText::Part part_;
  std::function<void(std::string_view)> use_;
  std::int64_t line_ = 0;
};

/// Refuses what is not text, and notes what was normalised.
struct FileCheck {
  FileCheck(const std::string& printable_name, Unit of_unit)
      : name(printable_name), unit(of_unit), utf8(printable_name) {}

  void add(const std::string& raw) {
    if (std::exchange(is_first, false)) {
      const std::string kind = kind_of_file(raw);
      check_input(kind.empty() || unit == Unit::bytes, "{}: looks like {}", name, kind);
      if (!kind.empty())
        notes.push_back(fmt::format("{}: its bytes are read as they are; it looks like {}", name, kind));
    }
    if (is_utf8(unit)) utf8.add(raw);
  }

  std::string name;
  Unit unit;
  Utf8Check utf8;
  bool is_first = true;
  std::vector<std::string> notes{};
};

}  // namespace

LongText::LongText(const std::vector<std::filesystem::path>& paths, Unit unit, bool ends_lines,
                   ReadingProgress progress)
    : unit_(unit), ends_lines_(ends_lines), progress_(std::move(progress)) {
  for (const std::filesystem::path& path : paths) {
    files_.push_back({path.string(), ""});
    disk_bytes_ += static_cast<std::int64_t>(InputFile(path).size());
  }
  std::int64_t read = 0;
  for (FileDigest& it : files_) {
    FileCheck check(printable(it.path), unit);
    Normaliser normaliser;
    const std::uint64_t bytes_before = bytes_;
    const std::string sha256 = read_file(
        it.path, "reading", read, normaliser, [&](const std::string& raw) { check.add(raw); },
        [&](std::string_view piece) {
          bytes_ += piece.size();
          lines_ += std::count(piece.begin(), piece.end(), '\n');
        });
    if (is_utf8(unit)) check.utf8.end();
    if (bytes_ > bytes_before || paths.size() == 1) it.sha256 = sha256;
    notes_.insert(notes_.end(), check.notes.begin(), check.notes.end());
    normaliser.note(check.name, notes_);
  }
  std::erase_if(files_, [](const FileDigest& it) { return it.sha256.empty(); });  // among others an empty one
}

std::string LongText::read_file(const std::string& path, const std::string& what, std::int64_t& read,
                                Normaliser& normaliser,
                                const std::function<void(const std::string&)>& use_raw,
                                const std::function<void(std::string_view)>& use) const {
  UnpackedFile file(path);
  char last = '\n';
  const auto pass = [&](std::string_view piece) {
    if (piece.empty()) return;
    last = piece.back();
    use(piece);
  };
  for (std::string raw = file.read(); !raw.empty(); raw = file.read()) {
    use_raw(raw);
    pass(unit_ == Unit::bytes ? raw : normaliser.next(std::move(raw)));
    if (progress_) progress_(what, read + static_cast<std::int64_t>(file.position()), disk_bytes_);
  }
  pass(normaliser.end());
  if (ends_lines_ && last != '\n') pass("\n");
  read += static_cast<std::int64_t>(file.size());
  return file.sha256();
}

LongText LongText::part(const Part& part) const {
  LongText it = *this;
  it.part_ = part;
  return it;
}

void LongText::read_pieces(const std::string& what, const std::function<void(std::string_view)>& use) const {
  std::uint64_t position = 0;
  BlockSelection blocks(part_, use);
  const auto pass = [&](std::string_view piece) {
    if (part_.block_lines > 0) return blocks.add(piece);
    const std::uint64_t end = position + piece.size();
    const std::uint64_t first = std::clamp(part_.begin, position, end),
                        behind = std::clamp(part_.end, first, end);
    if (first < behind) use(piece.substr(first - position, behind - first));
    position = end;
  };
  std::int64_t read = 0;
  for (const FileDigest& it : files_) {
    Normaliser normaliser;
    check_input(read_file(
                    it.path, what, read, normaliser, [](const std::string&) {}, pass) == it.sha256,
                "{}: it was changed while it was read; start again when it is complete", printable(it.path));
  }
}

void LongText::read(const Tokenization& tokenization, const std::string& what, const UseBlock& use) const {
  BlockCutter cutter(tokenization, use);
  read_pieces(what, [&](std::string_view piece) { cutter.add(piece); });
  cutter.end();
}

std::string LongText::key() const {
  std::string all = fmt::format("{} {} {}-{} {} {}\n", name_of(unit_), ends_lines_, part_.begin, part_.end,
                                part_.block_lines, part_.is_held_out);
  for (const FileDigest& file : files_) all += fmt::format("{} {}\n", is_packed(file.path), file.sha256);
  return sha256_hex(all);
}

}  // namespace rondo

// The corpus; see data/text/corpus.h.
#include "data/text/corpus.h"

#include <fmt/ranges.h>
#include <glob.h>

#include <algorithm>
#include <regex>
#include <system_error>
#include <utility>

#include "data/files/files.h"
#include "tensor/threads.h"

namespace rondo {

namespace fs = std::filesystem;

namespace {

/// Finds the best place to cut a text in [ideal, limit): the first start of a line, else of a word, else of a
/// symbol. The text may arrive in parts.
class CutSearch {
 public:
  CutSearch(std::uint64_t ideal, std::uint64_t limit)
      : ideal_(ideal), limit_(limit), line_(limit), word_(limit), symbol_(ideal) {}

  void add(std::string_view part) {
    const std::uint64_t begin = position_, end = position_ += part.size();
    // A place is behind a separator.
    for (std::uint64_t at = std::max(ideal_, begin + 1); at < limit_ && at <= end && line_ == limit_; ++at) {
      const char before = part[at - 1 - begin];
      if (before == '\n') line_ = at;
      if (is_space(before)) word_ = std::min(word_, at);
    }
    while (symbol_ >= begin && symbol_ < end && symbol_ + 1 < limit_ &&
           continues_character(part[symbol_ - begin]))
      ++symbol_;
  }
  std::uint64_t place() const { return line_ < limit_ ? line_ : word_ < limit_ ? word_ : symbol_; }

 private:
  std::uint64_t ideal_, limit_, line_, word_, symbol_;
  std::uint64_t position_ = 0;
};

/// Adds the files' digests and notes to the corpus.
void record(CorpusText& corpus, const TextSource& source) {
  corpus.files.insert(corpus.files.end(), source.files().begin(), source.files().end());
  corpus.notes.insert(corpus.notes.end(), source.notes().begin(), source.notes().end());
}

/// The text of one file, or of several, whose lines all end.
Text read_texts(CorpusText& corpus, const std::vector<fs::path>& paths, Unit unit,
                const TextReading& reading) {
  const TextSource source(paths, unit, paths.size() > 1, reading);
  record(corpus, source);
  return source.text(source.name());
}

/// What a text begins and ends with, such as a licence at the end of a book; nothing of one that is not held
/// in memory.
std::string ends_text(std::string_view text) {
  std::vector<std::string_view> lines = split_lines(text);
  std::erase_if(lines, [](std::string_view line) { return stripped(line).empty(); });
  if (lines.empty()) return "";
  return fmt::format("; test is from '{}' to '{}'", excerpt(stripped(lines.front())),
                     excerpt(stripped(lines.back())));
}

CorpusText split_file(const fs::path& path, Unit unit, Pipes pipes, const TextReading& reading) {
  const TextSource source({path}, unit, false, reading, pipes);
  const std::string name = source.name();
  const std::uint64_t size = source.bytes(), last_twentieth = size - size / 20;
  constexpr std::uint64_t shortest = 40;  // bytes: a twentieth then has two
  check_input(size >= shortest, "{}: {} bytes are too few to cut into train, valid and test; give {} or more",
              name, size, shortest);
  CutSearch valid(size - size / 10, last_twentieth), test(last_twentieth, size);
  source.read_pieces("cutting", [&](std::string_view piece) {
    valid.add(piece);
    test.add(piece);
  });
  CorpusText corpus;
  record(corpus, source);
  corpus.train = source.text(name + " (train)", {.end = valid.place()});
  corpus.valid = source.text(name + " (valid)", {.begin = valid.place(), .end = test.place()});
  corpus.test = source.text(name + " (test)", {.begin = test.place(), .end = size});
  corpus.notes.push_back(
      fmt::format("{}: one file: the last 10 % are valid (5 %, from byte {}) and test (5 %, from byte {}){}",
                  name, valid.place(), test.place(), ends_text(corpus.test->content)));
  return corpus;
}

void sort_in_c_locale(std::vector<fs::path>& paths) {
  std::ranges::sort(paths,
                    [](const auto& a, const auto& b) { return a.generic_string() < b.generic_string(); });
}

/// A path that glob() takes as it is.
fs::path literal(const fs::path& path) {
  return std::regex_replace(path.string(), std::regex(R"([*?[\]\\])"), R"(\$&)");
}

/// Adds what a pattern names in a folder. `**` goes into all folders that can be read, except links to
/// folders, which might lead in a circle, and hidden ones, as `*` does not name them.
void add_named(const fs::path& folder, const fs::path& pattern, std::vector<fs::path>& paths) {
  const auto deep = std::find(pattern.begin(), pattern.end(), "**");
  if (deep == pattern.end()) {
    glob_t found;
    if (glob((literal(folder) / pattern).c_str(), 0, nullptr, &found) == 0)
      paths.insert(paths.end(), found.gl_pathv, found.gl_pathv + found.gl_pathc);
    globfree(&found);
    return;
  }
  fs::path before = ".", after;
  for (auto it = pattern.begin(); it != deep; ++it) before /= *it;
  for (auto it = std::next(deep); it != pattern.end(); ++it) after /= *it;
  if (after.empty()) after = "*";
  std::vector<fs::path> tops;
  add_named(folder, before, tops);
  for (const fs::path& top : tops) {
    if (!fs::is_directory(top)) continue;
    add_named(top, after, paths);
    constexpr auto options = fs::directory_options::skip_permission_denied;
    for (auto it = fs::recursive_directory_iterator(top, options); it != fs::end(it); ++it) {
      if (!it->is_directory() || it->is_symlink()) continue;
      if (it->path().filename().string().starts_with('.'))
        it.disable_recursion_pending();
      else
        add_named(it->path(), after, paths);
    }
  }
}

}  // namespace

std::vector<fs::path> files_named(const fs::path& folder, const std::vector<std::string>& patterns) {
  std::vector<fs::path> paths;
  for (const std::string& pattern : patterns) add_named(folder, pattern, paths);
  std::erase_if(paths, [](const fs::path& path) { return fs::is_directory(path); });
  for (fs::path& path : paths) path = path.lexically_normal();
  sort_in_c_locale(paths);
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());  // patterns may overlap
  return paths;
}

Text open_text_file(const fs::path& path, Unit unit, Pipes pipes, const TextReading& reading) {
  const TextSource source({path}, unit, false, reading, pipes);
  Text text = source.text(source.name());
  text.notes = source.notes();
  return text;
}

namespace {

/// The files of the training text in a folder.
std::vector<fs::path> train_files(const fs::path& folder, const std::vector<std::string>& patterns) {
  if (!patterns.empty()) {
    std::vector<fs::path> found = files_named(folder, patterns);
    check_input(!found.empty(), "no file of {} matches the patterns of data.train_files ({})",
                folder.string(), fmt::join(patterns, ", "));
    return found;
  }
  if (const fs::path file = plain_or_packed(folder / "train.txt"); file_is_there(file)) return {file};
  std::vector<std::string> usual{"train-*.txt"};
  for (const std::string_view suffix : packed_suffixes) usual.push_back(usual.front() + std::string(suffix));
  return files_named(folder, usual);
}

}  // namespace

CorpusText open_corpus(const fs::path& path, Unit unit, Pipes pipes, const TextReading& reading) {
  check_input(file_is_there(path), "{}: no such file or folder; give a text file or a folder with train.txt",
              path.string());
  if (!fs::is_directory(path)) {
    check_input(reading.train_files.empty(), "{}: one file, but data.train_files names files of a folder",
                path.string());
    return split_file(path, unit, pipes, reading);
  }
  CorpusText corpus;
  const std::vector<fs::path> train = train_files(path, reading.train_files);
  const fs::path valid = plain_or_packed(path / "valid.txt"), test = plain_or_packed(path / "test.txt");
  const char* const what = ": a data folder holds train.txt, valid.txt and perhaps test.txt";
  if (train.empty()) check_is_there(path / "train.txt", what);
  check_is_there(valid, what);
  for (const fs::path& file : train)
    for (const fs::path& other : {valid, test}) {
      std::error_code ignored;
      check_input(!fs::equivalent(file, other, ignored),
                  "{}: data.train_files ({}) matches it, and it is not training text: narrow the patterns",
                  printable(other.string()), fmt::join(reading.train_files, ", "));
    }
  corpus.train = read_texts(corpus, train, unit, reading);
  corpus.valid = read_texts(corpus, {valid}, unit, reading);
  if (file_is_there(test))
    corpus.test = read_texts(corpus, {test}, unit, reading);
  else
    corpus.notes.push_back(note_of_missing_test(test));
  return corpus;
}

CorpusText corpus_of_files(std::vector<fs::path> paths, std::int64_t block_lines, Unit unit,
                           const TextReading& reading) {
  check_input(!paths.empty(), "no files to make a corpus of: check the file patterns");
  check_input(block_lines >= 1, "blocks of {} lines: a block has 1 or more", block_lines);
  sort_in_c_locale(paths);
  const TextSource source(paths, unit, true, reading);
  check_input(source.lines() > (blocks_per_held_out - 1) * block_lines,
              "{} lines in {} files are fewer than ten blocks of {}: nothing to validate on", source.lines(),
              paths.size(), block_lines);
  CorpusText corpus;
  record(corpus, source);
  corpus.train = source.text("train (of the files)", {.block_lines = block_lines});
  corpus.valid = source.text("valid (of the files)", {.block_lines = block_lines, .is_held_out = true});
  corpus.notes.push_back(fmt::format("{} files, {} lines: every tenth block of {} lines is validation text",
                                     corpus.files.size(), source.lines(), block_lines));
  return corpus;
}

namespace {

/// Encodes a text; `pass` gets the ids part by part.
IdCounts encode_blocks(const Text& text, const Vocabulary& vocabulary, const PassIds& pass) {
  IdCounts counts;
  bool is_first = true;
  InOrder<Encoded> blocks(threads(), [&](const Encoded& block) {
    if (std::exchange(is_first, false)) counts.first_bytes = block.first_bytes;
    counts.unknowns += block.unknowns;
    counts.bytes += block.bytes;
    pass(block.ids);
  });
  read_blocks(text, vocabulary.tokenization(), "encoding", [&](Block block) {
    blocks.add(
        [block = std::move(block), &vocabulary, &text] { return vocabulary.encode(block, text.name); });
  });
  blocks.finish();
  return counts;
}

/// The SHA-256 of all that the ids depend on, and of the format of their file.
std::string key_of(const Text& text, const Vocabulary& vocabulary) {
  const Tokenization& tokenization = vocabulary.tokenization();
  return sha256_hex(fmt::format("rondo ids 4\n{}\n{} {} {} {}\n{}{}", text.source->key(),
                                name_of(tokenization.unit), tokenization.strip_lines, tokenization.tokenize,
                                tokenization.lowercase, vocabulary.to_text(),
                                vocabulary.pieces() ? vocabulary.pieces()->bytes() : ""));
}

EncodedText encode_long_text(const Text& text, const Vocabulary& vocabulary, const fs::path& cache) {
  check_input(!cache.empty(),
              "{}: too long to be held in memory, and there is no folder for the file of its ids: set "
              "XDG_CACHE_HOME to one",
              text.name);
  std::error_code failure;
  fs::create_directories(cache, failure);
  check_input(!failure,
              "{}: cannot be made: {}; XDG_CACHE_HOME names another folder for the ids of long texts",
              cache.string(), failure.message());
  const fs::path path = ids_path(text, vocabulary, cache);
  const FolderLock turn = FolderLock::wait_for(cache);  // whoever comes second finds the file of the first
  if (const std::optional<EncodedText> there = map_ids(path)) return *there;
  try {
    write_ids(path, [&](const PassIds& pass) { return encode_blocks(text, vocabulary, pass); });
  } catch (const InputError&) {
    throw;
  } catch (const Error& error) {
    throw Error(
        fmt::format("{}; the ids of a long text need 4 bytes per symbol: XDG_CACHE_HOME names "
                    "another folder for them",
                    error.what()));
  }
  const std::optional<EncodedText> written = map_ids(path);
  check(written.has_value(), "{}: what was written cannot be read again", path.string());
  return *written;
}

}  // namespace

fs::path ids_path(const Text& text, const Vocabulary& vocabulary, const fs::path& cache) {
  return cache / (key_of(text, vocabulary) + ".ids");
}

EncodedText encode_text(const Text& text, const Vocabulary& vocabulary, const fs::path& cache) {
  if (vocabulary.tokenization().unit == Unit::pieces && !has_sentencepiece()) throw_no_sentencepiece();
  if (text.source) return encode_long_text(text, vocabulary, cache);
  std::vector<std::int32_t> ids;
  const IdCounts counts = encode_blocks(text, vocabulary, [&](std::span<const std::int32_t> part) {
    ids.insert(ids.end(), part.begin(), part.end());
  });
  return {std::move(ids), counts};
}

}  // namespace rondo

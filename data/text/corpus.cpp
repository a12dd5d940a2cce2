// The corpus; see data/text/corpus.h.
#include "data/text/corpus.h"

#include <fmt/ranges.h>
#include <glob.h>

#include <algorithm>
#include <array>
#include <set>
#include <system_error>
#include <utility>

#include "data/files/files.h"
#include "data/files/input_file.h"
#include "data/text/text.h"
#include "data/text/text_blocks.h"
#include "tensor/error.h"
#include "tensor/threads.h"

namespace rondo {

namespace {

constexpr std::array<std::string_view, 3> split_names = {"train", "valid", "test"};  // in the order of Split
constexpr std::string_view no_test = "this corpus has no test text (test.txt): choose train or valid";

/// Adds the text's digest and notes to the corpus, and returns the text.
Text record_source(CorpusText& corpus, Text text) {
  corpus.files.push_back({text.name, text.sha256});
  corpus.notes.insert(corpus.notes.end(), text.notes.begin(), text.notes.end());
  return text;
}

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
    constexpr int continuation = 0x80;  // the upper two bits of a UTF-8 continuation byte
    while (symbol_ >= begin && symbol_ < end && symbol_ + 1 < limit_ &&
           (part[symbol_ - begin] & 0xc0) == continuation)
      ++symbol_;
  }
  std::uint64_t place() const { return line_ < limit_ ? line_ : word_ < limit_ ? word_ : symbol_; }

 private:
  std::uint64_t ideal_, limit_, line_, word_, symbol_;
  std::uint64_t position_ = 0;
};

bool is_there(const std::filesystem::path& path) {
  std::error_code failure;
  const bool there = std::filesystem::exists(path, failure);
  check_input(!failure, "{}: cannot be looked up: {}", path.string(), failure.message());
  return there;
}

/// The file of a split in a folder: as NAME.txt, or packed. Nothing if there is none.
std::optional<std::filesystem::path> file_of(const std::filesystem::path& folder, Split split) {
  const std::filesystem::path plain = folder / fmt::format("{}.txt", to_string(split));
  std::vector<std::filesystem::path> found;
  if (is_there(plain)) found.push_back(plain);
  for (const std::string_view suffix : packed_suffixes)
    if (auto packed = plain.string() + std::string(suffix); is_there(packed)) found.emplace_back(packed);
  if (found.size() > 1)
    throw InputError(fmt::format("{} and {}: is it one text? keep one of them", found.front().string(),
                                 found.back().string()));
  return found.empty() ? std::nullopt : std::optional(found.front());
}

/// The names of the files, for messages.
std::string name_of_files(const std::vector<std::filesystem::path>& paths) {
  const std::string first = printable(paths.front().string());
  return paths.size() == 1 ? first : fmt::format("{} and {} more", first, paths.size() - 1);
}

/// The files' texts, if they are short enough to be held.
std::optional<std::vector<Text>> read_short_texts(const std::vector<std::filesystem::path>& paths, Unit unit,
                                                  std::uint64_t most) {
  std::vector<Text> texts;
  for (const std::filesystem::path& path : paths) {
    std::optional<WholeFile> file = read_unpacked(path, most);
    if (!file) return std::nullopt;
    most -= file->bytes.size();
    if (file->bytes.empty() && paths.size() > 1) continue;
    texts.push_back(clean_text(std::move(file->bytes), path.string(), unit));
    texts.back().sha256 = std::move(file->sha256);
  }
  return texts;
}

/// Files that are read in blocks.
LongText open_long_text(const std::vector<std::filesystem::path>& paths, Unit unit, bool ends_lines,
                        const TextReading& reading) {
  LongText text(paths, unit, ends_lines, reading.progress);
  check_input(text.bytes() > 0, "{}: empty; it must hold text", name_of_files(paths));
  return text;
}

Text text_of(const LongText& source, const std::string& name) {
  return {.name = name,
          .content = {},
          .sha256 = source.files().front().sha256,
          .notes = {},
          .source = std::make_shared<const LongText>(source)};
}

/// Adds the files' digests and notes to the corpus, and returns their text.
Text record_source(CorpusText& corpus, LongText text, const std::string& name) {
  corpus.files.insert(corpus.files.end(), text.files().begin(), text.files().end());
  corpus.notes.insert(corpus.notes.end(), text.notes().begin(), text.notes().end());
  return text_of(text, name);
}

/// The text of one file, or of several, whose lines all end.
Text read_texts(CorpusText& corpus, const std::vector<std::filesystem::path>& paths, Unit unit,
                const TextReading& reading) {
  std::optional<std::vector<Text>> texts = read_short_texts(paths, unit, reading.most_in_memory);
  if (!texts)
    return record_source(corpus, open_long_text(paths, unit, paths.size() > 1, reading),
                         name_of_files(paths));
  if (paths.size() == 1) return record_source(corpus, std::move(texts->front()));
  Text joined{.name = name_of_files(paths), .content = {}, .sha256 = {}, .notes = {}, .source = {}};
  for (Text& it : *texts) {
    joined.content += record_source(corpus, std::move(it)).content;
    if (!joined.content.ends_with('\n')) joined.content += '\n';
  }
  check_input(!joined.content.empty(), "{}: empty; they must hold text", joined.name);
  return joined;
}

/// The parts of one file.
struct Cuts {
  std::uint64_t size, valid, test;

  /// Where to look for the places, in a text of this size.
  static std::pair<CutSearch, CutSearch> searches(std::uint64_t size) {
    const std::uint64_t last_twentieth = size - size / 20;
    return {CutSearch(size - size / 10, last_twentieth), CutSearch(last_twentieth, size)};
  }
  std::pair<std::uint64_t, std::uint64_t> range(Split split) const {
    if (split == Split::train) return {0, valid};
    return split == Split::valid ? std::pair(valid, test) : std::pair(test, size);
  }
};

/// `read` passes the text to a function, whole or in parts.
Cuts cuts_of(std::uint64_t size, const std::string& name,
             const std::function<void(const std::function<void(std::string_view)>&)>& read) {
  constexpr std::size_t shortest = 40;  // bytes: a twentieth then has two
  check_input(size >= shortest, "{}: {} bytes are too few to cut into train, valid and test; give {} or more",
              name, size, shortest);
  auto [valid, test] = Cuts::searches(size);
  read([&valid = valid, &test = test](std::string_view part) {
    valid.add(part);
    test.add(part);
  });
  return {size, valid.place(), test.place()};
}

/// The text of a file that the user may have named: perhaps a pipe.
Text read_file_or_pipe(CorpusText& corpus, const std::filesystem::path& path, Unit unit, Pipes pipes,
                       const TextReading& reading) {
  std::error_code ignored;
  const bool is_regular = std::filesystem::is_regular_file(path, ignored);
  if (pipes == Pipes::accepted && !is_regular) return record_source(corpus, read_text(path, unit));
  return read_texts(corpus, {path}, unit, reading);
}

CorpusText split_file(const std::filesystem::path& path, Unit unit, Pipes pipes, const TextReading& reading) {
  CorpusText corpus;
  const Text whole = read_file_or_pipe(corpus, path, unit, pipes, reading);
  const Cuts cuts = cuts_of(whole.source ? whole.source->bytes() : whole.content.size(), whole.name,
                            [&](const std::function<void(std::string_view)>& use) {
                              if (whole.source)
                                whole.source->read_pieces("cutting", use);
                              else
                                use(whole.content);
                            });
  const auto part = [&](Split split) {
    const auto [begin, end] = cuts.range(split);
    const std::string name = fmt::format("{} ({})", whole.name, to_string(split));
    if (whole.source) return text_of(whole.source->part({.begin = begin, .end = end}), name);
    return Text{.name = name,
                .content = whole.content.substr(begin, end - begin),
                .sha256 = whole.sha256,
                .notes = {},
                .source = {}};
  };
  corpus.train = part(Split::train);
  corpus.valid = part(Split::valid);
  corpus.test = part(Split::test);
  corpus.notes.push_back(
      fmt::format("{}: one file: the last 10 % are valid (5 %, from byte {}) and test (5 %, from byte {})",
                  whole.name, cuts.valid, cuts.test));
  return corpus;
}

}  // namespace

std::string_view to_string(Split split) { return split_names.at(static_cast<std::size_t>(split)); }

Split split_from_string(std::string_view name) {
  const auto found = std::find(split_names.begin(), split_names.end(), name);
  check_input(found != split_names.end(), "'{}' is no split: choose train, valid or test", name);
  return static_cast<Split>(found - split_names.begin());
}

const Text& CorpusText::at(Split split) const {
  check_input(split != Split::test || test.has_value(), "{}", no_test);
  return split == Split::train ? train : split == Split::valid ? valid : *test;
}

const EncodedText& Corpus::at(Split split) const {
  check_input(split != Split::test || test.has_value(), "{}", no_test);
  return split == Split::train ? train : split == Split::valid ? valid : *test;
}

namespace {

/// A path that glob() takes as it is.
std::filesystem::path literal(const std::filesystem::path& path) {
  std::string escaped;
  for (const char c : path.string()) {
    if (std::string_view("*?[]\\").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

}  // namespace

std::vector<std::filesystem::path> files_named(const std::filesystem::path& folder,
                                               const std::vector<std::string>& patterns) {
  std::vector<std::filesystem::path> paths;
  for (const std::string& pattern : patterns) {
    glob_t found;
    if (glob((literal(folder) / pattern).c_str(), 0, nullptr, &found) == 0)
      paths.insert(paths.end(), found.gl_pathv, found.gl_pathv + found.gl_pathc);
    globfree(&found);
  }
  const auto c_locale = [](const auto& a, const auto& b) { return a.generic_string() < b.generic_string(); };
  std::sort(paths.begin(), paths.end(), c_locale);
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());  // patterns may overlap
  return paths;
}

Text open_text_file(const std::filesystem::path& path, Unit unit, Pipes pipes, const TextReading& reading) {
  CorpusText corpus;
  Text text = read_file_or_pipe(corpus, path, unit, pipes, reading);
  text.notes = std::move(corpus.notes);
  return text;
}

namespace {

/// The files of the training text in a folder.
std::vector<std::filesystem::path> train_files(const std::filesystem::path& folder,
                                               const std::vector<std::string>& patterns) {
  if (!patterns.empty()) {
    std::vector<std::filesystem::path> found = files_named(folder, patterns);
    check_input(!found.empty(), "no file of {} matches the patterns of data.train_files ({})",
                folder.string(), fmt::join(patterns, ", "));
    return found;
  }
  if (const auto file = file_of(folder, Split::train)) return {*file};
  std::vector<std::string> usual{"train-*.txt"};
  for (const std::string_view suffix : packed_suffixes) usual.push_back(usual.front() + std::string(suffix));
  return files_named(folder, usual);
}

/// ", but val.txt is there: ...", if the text of a split has a name that is usual elsewhere.
std::string other_name_of(const std::filesystem::path& folder, Split split) {
  std::vector<std::string> names{split == Split::valid ? "val" : std::string(to_string(split))};
  if (split == Split::valid) names.emplace_back("dev");
  std::set<std::string> found;
  std::error_code failure;
  for (auto it = std::filesystem::directory_iterator(folder, failure);
       !failure && it != std::filesystem::directory_iterator(); it.increment(failure))
    for (const std::string& name : names)
      if (std::error_code ignored;
          it->is_regular_file(ignored) && it->path().filename().string().find(name) != std::string::npos)
        found.insert(printable(it->path().filename().string()));
  return found.empty() ? "" : fmt::format(", but {} is there: rename it", *found.begin());
}

[[noreturn]] void throw_missing(const std::filesystem::path& folder, Split split) {
  const std::filesystem::path file = folder / fmt::format("{}.txt", to_string(split));
  throw InputError(
      fmt::format("{}: missing{}; a data folder holds train.txt, valid.txt and perhaps test.txt{}",
                  file.string(), other_name_of(folder, split), elsewhere_text(file)));
}

}  // namespace

CorpusText open_corpus(const std::filesystem::path& path, Unit unit, Pipes pipes,
                       const TextReading& reading) {
  check_input(is_there(path), "{}: no such file or folder; give a text file or a folder with train.txt",
              path.string());
  if (!std::filesystem::is_directory(path)) {
    check_input(reading.train_files.empty(), "{}: one file, but data.train_files names files of a folder",
                path.string());
    return split_file(path, unit, pipes, reading);
  }

  CorpusText corpus;
  const std::vector<std::filesystem::path> train = train_files(path, reading.train_files);
  const auto valid = file_of(path, Split::valid), test = file_of(path, Split::test);
  for (const Split split : {Split::train, Split::valid})
    if (split == Split::train ? train.empty() : !valid) throw_missing(path, split);
  corpus.train = read_texts(corpus, train, unit, reading);
  corpus.valid = read_texts(corpus, {*valid}, unit, reading);
  if (test)
    corpus.test = read_texts(corpus, {*test}, unit, reading);
  else
    corpus.notes.push_back(note_of_missing_test(path / "test.txt"));
  return corpus;
}

CorpusText corpus_of_files(std::vector<std::filesystem::path> paths, std::int64_t block_lines, Unit unit,
                           const TextReading& reading) {
  check_input(!paths.empty(), "no files to make a corpus of: check the file patterns");
  check_input(block_lines >= 1, "blocks of {} lines: a block has 1 or more", block_lines);
  const auto c_locale = [](const auto& a, const auto& b) { return a.generic_string() < b.generic_string(); };
  std::sort(paths.begin(), paths.end(), c_locale);

  CorpusText corpus;
  const std::string train_name = "train (of the files)", valid_name = "valid (of the files)";
  std::int64_t lines = 0;
  bool has_valid = false;
  if (std::optional<std::vector<Text>> texts = read_short_texts(paths, unit, reading.most_in_memory)) {
    corpus.train.name = train_name;
    corpus.valid.name = valid_name;
    for (Text& it : *texts) {
      const Text file = record_source(corpus, std::move(it));
      if (file.content.empty()) continue;
      for (const std::string_view line : split_lines(file.content)) {
        const bool is_valid = lines++ / block_lines % blocks_per_held_out == blocks_per_held_out - 1;
        std::string& content = (is_valid ? corpus.valid : corpus.train).content;
        content += line;
        content += '\n';
      }
    }
    has_valid = !corpus.valid.content.empty();
  } else {
    const LongText whole(paths, unit, true, reading.progress);
    corpus.train = record_source(corpus, whole.part({.block_lines = block_lines}), train_name);
    corpus.valid = text_of(whole.part({.block_lines = block_lines, .is_held_out = true}), valid_name);
    lines = whole.lines();
    has_valid = lines > (blocks_per_held_out - 1) * block_lines;
  }
  check_input(has_valid, "{} lines in {} files are fewer than ten blocks of {}: nothing to validate on",
              lines, paths.size(), block_lines);
  corpus.notes.push_back(fmt::format("{} files, {} lines: every tenth block of {} lines is validation text",
                                     corpus.files.size(), lines, block_lines));
  return corpus;
}

namespace {

/// Encodes a text; `pass` gets the ids part by part.
IdCounts encode_blocks(const Text& text, const Vocabulary& vocabulary, const IdFile::Pass& pass) {
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

/// The same for texts and vocabularies that give the same ids.
std::string key_of(const Text& text, const Vocabulary& vocabulary) {
  const Tokenization& tokenization = vocabulary.tokenization();
  return sha256_hex(fmt::format("{}\n{} {}\n{}{}", text.source->key(), name_of(tokenization.unit),
                                tokenization.strip_lines, vocabulary.to_text(),
                                vocabulary.pieces() ? vocabulary.pieces()->bytes() : ""));
}

EncodedText encode_long_text(const Text& text, const Vocabulary& vocabulary,
                             const std::filesystem::path& cache) {
  check_input(!cache.empty(),
              "{}: too long to be held in memory, and there is no folder for the file of its ids: set "
              "XDG_CACHE_HOME to one",
              text.name);
  std::error_code failure;
  std::filesystem::create_directories(cache, failure);
  check_input(!failure,
              "{}: cannot be made: {}; XDG_CACHE_HOME names another folder for the ids of long texts",
              cache.string(), failure.message());
  const std::string key = key_of(text, vocabulary);
  const std::filesystem::path path = ids_path(text, vocabulary, cache);
  const FolderLock turn = FolderLock::wait_for(cache);  // whoever comes second finds the file of the first
  std::optional<IdFile> file = IdFile::mapped(path, key);
  if (!file) {
    try {
      IdFile::write(path, key,
                    [&](const IdFile::Pass& pass) { return encode_blocks(text, vocabulary, pass); });
    } catch (const InputError&) {
      throw;
    } catch (const Error& error) {
      throw Error(
          fmt::format("{}; the ids of a long text need 4 bytes per symbol: XDG_CACHE_HOME names "
                      "another folder for them",
                      error.what()));
    }
    file = IdFile::mapped(path, key);
    check(file.has_value(), "{}: what was written cannot be read again", path.string());
  }
  return {std::move(file->ids), file->counts};
}

}  // namespace

std::filesystem::path ids_path(const Text& text, const Vocabulary& vocabulary,
                               const std::filesystem::path& cache) {
  constexpr std::size_t enough = 32;  // hexadecimal digits; the file has all of them
  return cache / (key_of(text, vocabulary).substr(0, enough) + ".ids");
}

EncodedText encode_text(const Text& text, const Vocabulary& vocabulary, const std::filesystem::path& cache) {
  if (vocabulary.tokenization().unit == Unit::pieces && !has_sentencepiece()) throw_no_sentencepiece();
  if (text.source) return encode_long_text(text, vocabulary, cache);
  std::vector<std::int32_t> ids;
  const IdCounts counts = encode_blocks(text, vocabulary, [&](std::span<const std::int32_t> part) {
    ids.insert(ids.end(), part.begin(), part.end());
  });
  return {std::move(ids), counts};
}

Corpus encode_corpus(const CorpusText& text, const Vocabulary& vocabulary,
                     const std::filesystem::path& cache) {
  const auto encode = [&](const Text& part) {
    EncodedText encoded = encode_text(part, vocabulary, cache);
    check_input(encoded.ids.size() >= 2,
                "{}: only {} symbol{}; 2 or more are needed, the first being context", part.name,
                encoded.ids.size(), encoded.ids.size() == 1 ? "" : "s");
    return encoded;
  };
  return {.train = encode(text.train),
          .valid = encode(text.valid),
          .test = text.test ? std::optional(encode(*text.test)) : std::nullopt};
}

}  // namespace rondo

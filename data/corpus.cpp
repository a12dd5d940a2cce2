// The corpus; see data/corpus.h.
#include "data/corpus.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "data/input_file.h"
#include "data/text.h"
#include "tensor/error.h"

namespace rondo {

namespace {

constexpr std::array<std::string_view, 3> split_names = {"train", "valid", "test"};  // in the order of Split
constexpr std::string_view no_test = "this corpus has no test text (test.txt): choose train or valid";

/// Adds the text's digest and notes to the corpus, and returns the text.
Text take(CorpusText& corpus, Text text) {
  corpus.files.push_back({text.name, text.sha256});
  corpus.notes.insert(corpus.notes.end(), text.notes.begin(), text.notes.end());
  return text;
}

/// The best place to cut in [ideal, limit): the first start of a line, else of a word, else of a symbol.
std::size_t cut_place(std::string_view text, std::size_t ideal, std::size_t limit) {
  const auto after = [&](auto is_separator) {
    std::size_t at = ideal;
    while (at < limit && !is_separator(text[at - 1])) ++at;
    return at;
  };
  std::size_t at = after([](char c) { return c == '\n'; });
  if (at == limit) at = after(is_space);
  if (at < limit) return at;
  constexpr int continuation = 0x80;  // the upper two bits of a UTF-8 continuation byte
  for (at = ideal; at + 1 < limit && (text[at] & 0xc0) == continuation;) ++at;
  return at;
}

bool is_there(const std::filesystem::path& path) {
  std::error_code failure;
  const bool there = std::filesystem::exists(path, failure);
  check_input(!failure, "{}: cannot be looked up: {}", path.string(), failure.message());
  return there;
}

std::string read_any_size(const std::filesystem::path& path) {
  return read_regular_file(path, std::numeric_limits<std::uint64_t>::max());
}

Text read_regular_text(const std::filesystem::path& path, Unit unit) {
  return clean_text(read_any_size(path), path.string(), unit);
}

CorpusText split_file(const std::filesystem::path& path, Unit unit, Pipes pipes) {
  CorpusText corpus;
  const Text whole =
      take(corpus, pipes == Pipes::accepted ? read_text(path, unit) : read_regular_text(path, unit));
  const std::string_view text = whole.content;
  constexpr std::size_t shortest = 40;  // bytes: a twentieth then has two
  check_input(text.size() >= shortest,
              "{}: {} bytes are too few to cut into train, valid and test; give {} or more", whole.name,
              text.size(), shortest);

  const std::size_t last_twentieth = text.size() - text.size() / 20;
  const std::size_t valid = cut_place(text, text.size() - text.size() / 10, last_twentieth);
  const std::size_t test = cut_place(text, last_twentieth, text.size());
  const auto part = [&](Split split, std::size_t begin, std::size_t end) {
    return Text{.name = fmt::format("{} ({})", whole.name, to_string(split)),
                .content = std::string(text.substr(begin, end - begin)),
                .sha256 = whole.sha256,
                .notes = {}};
  };
  corpus.train = part(Split::train, 0, valid);
  corpus.valid = part(Split::valid, valid, test);
  corpus.test = part(Split::test, test, text.size());
  corpus.notes.push_back(
      fmt::format("{}: one file: the last 10 % are valid (5 %, from byte {}) and test (5 %, from byte {})",
                  whole.name, valid, test));
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

const Encoded& Corpus::at(Split split) const {
  check_input(split != Split::test || test.has_value(), "{}", no_test);
  return split == Split::train ? train : split == Split::valid ? valid : *test;
}

CorpusText open_corpus(const std::filesystem::path& path, Unit unit, Pipes pipes) {
  check_input(is_there(path), "{}: no such file or folder; give a text file or a folder with train.txt",
              path.string());
  if (!std::filesystem::is_directory(path)) return split_file(path, unit, pipes);

  CorpusText corpus;
  const auto file_of = [&](Split split) { return path / fmt::format("{}.txt", to_string(split)); };
  for (const Split split : {Split::train, Split::valid})
    check_input(is_there(file_of(split)),
                "{}: missing; a data folder holds train.txt, valid.txt and perhaps test.txt",
                file_of(split).string());
  corpus.train = take(corpus, read_regular_text(file_of(Split::train), unit));
  corpus.valid = take(corpus, read_regular_text(file_of(Split::valid), unit));
  if (is_there(file_of(Split::test)))
    corpus.test = take(corpus, read_regular_text(file_of(Split::test), unit));
  return corpus;
}

CorpusText corpus_of_files(std::vector<std::filesystem::path> paths, std::int64_t block_lines, Unit unit) {
  constexpr std::int64_t held_out = 10;  // every tenth block
  check_input(!paths.empty(), "no files to make a corpus of: check the file patterns");
  check_input(block_lines >= 1, "blocks of {} lines: a block has 1 or more", block_lines);
  const auto c_locale = [](const auto& a, const auto& b) { return a.generic_string() < b.generic_string(); };
  std::sort(paths.begin(), paths.end(), c_locale);

  CorpusText corpus;
  corpus.train.name = "train (of the files)";
  corpus.valid.name = "valid (of the files)";
  std::int64_t line_number = 0;
  for (const std::filesystem::path& path : paths) {
    std::string raw = read_any_size(path);
    if (raw.empty()) continue;
    const Text file = take(corpus, clean_text(std::move(raw), path.string(), unit));
    for (const std::string_view line : split_lines(file.content)) {
      const bool is_valid = line_number++ / block_lines % held_out == held_out - 1;
      std::string& content = (is_valid ? corpus.valid : corpus.train).content;
      content += line;
      content += '\n';
    }
  }
  check_input(!corpus.valid.content.empty(),
              "{} lines in {} files are fewer than ten blocks of {}: nothing to validate on", line_number,
              paths.size(), block_lines);
  corpus.notes.push_back(fmt::format("{} files, {} lines: every tenth block of {} lines is validation text",
                                     corpus.files.size(), line_number, block_lines));
  return corpus;
}

Corpus encode_corpus(const CorpusText& text, const Vocabulary& vocabulary) {
  const auto encode = [&](const Text& part) {
    Encoded encoded = vocabulary.encode(part);
    check_input(encoded.ids.size() >= 2, "{}: only {} symbols; 2 or more are needed, the first being context",
                part.name, encoded.ids.size());
    return encoded;
  };
  return {.train = encode(text.train),
          .valid = encode(text.valid),
          .test = text.test ? std::optional(encode(*text.test)) : std::nullopt};
}

}  // namespace rondo

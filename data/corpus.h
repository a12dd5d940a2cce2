// The corpus: finds training, validation and test text, and encodes it. It deliberately downloads nothing,
// guesses no unit and makes no vocabulary of its own: see data/vocabulary.h. Read next: data/streams.h.
//
// A Text is the symbols of one split, and Encoded are its ids; CorpusText has the texts of all splits, and
// Corpus their ids: the vocabulary, which is made of texts, lies between the two.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/symbols.h"
#include "data/vocabulary.h"

namespace rondo {

enum class Split { train, valid, test };

std::string_view to_string(Split split);
Split split_from_string(std::string_view name);  // InputError names the choices

struct FileDigest {
  std::string path;
  std::string sha256;
};

/// The texts of a corpus, normalised.
struct CorpusText {
  Text train, valid;
  std::optional<Text> test;
  std::vector<FileDigest> files;   // every file that was read
  std::vector<std::string> notes;  // what the user should be told: what was normalised, how it was split

  const Text& at(Split split) const;  // InputError if there is no test text
};

/// Whether a text may come through a pipe: one that a user has just named, as <(command) is, but none that a
/// run has noted, which nobody may be writing into.
enum class Pipes { accepted, refused };

/// `path` is a folder with train.txt, valid.txt and perhaps test.txt; or one text file, whose last two
/// twentieths become valid and test, cut at ends of lines; where a line is longer than that, between words or
/// else symbols. InputError for whatever is missing, empty, unreadable, or too short to cut.
/// The files of a folder are no pipes.
CorpusText open_corpus(const std::filesystem::path& path, Unit unit, Pipes pipes = Pipes::accepted);

/// One text made of many files, in C-locale order of their paths: every tenth block of `block_lines` lines is
/// held out as validation text. A file's last line gets a newline if it has none; empty files are passed
/// over. No test text. InputError if there are no files, or fewer than ten blocks.
CorpusText corpus_of_files(std::vector<std::filesystem::path> paths, std::int64_t block_lines, Unit unit);

struct Corpus {
  Encoded train, valid;
  std::optional<Encoded> test;

  const Encoded& at(Split split) const;  // InputError if there is no test text
};

/// InputError if a text has fewer than two symbols: the first is context only.
Corpus encode_corpus(const CorpusText& text, const Vocabulary& vocabulary);

}  // namespace rondo

// The corpus: finds training, validation and test text, and encodes it. It downloads nothing and guesses
// no unit. Read next: data/streams.h; for pairs of sentences data/parallel_text.h.
//
// Text and Encoded are the symbols and the ids of one split; CorpusText and Corpus are those of all splits.
// The vocabulary (data/vocabulary.h) is made from the former and gives the latter.
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
  std::vector<std::string> notes;  // for the user: what was normalised, how it was split

  const Text& at(Split split) const;  // InputError if there is no test text
};

/// Whether a text may be a pipe: yes if the user has just named it, such as <(command); no if a run has
/// recorded it, because nobody may be writing into it.
enum class Pipes { accepted, refused };

/// `path` is a folder with train.txt, valid.txt and perhaps test.txt; or one text file, whose last two
/// twentieths become valid and test, cut at ends of lines; if a line is longer than that, between words or
/// else symbols. InputError for anything missing, empty, unreadable, or too short to cut, and for pipes in a
/// folder.
CorpusText open_corpus(const std::filesystem::path& path, Unit unit, Pipes pipes = Pipes::accepted);

/// One text made of many files, in C-locale order of their paths: every tenth block of `block_lines` lines is
/// held out as validation text. A last line without a newline gets one; empty files are skipped. No
/// test text. InputError if there are no files, or fewer than ten blocks.
CorpusText corpus_of_files(std::vector<std::filesystem::path> paths, std::int64_t block_lines, Unit unit);

struct Corpus {
  Encoded train, valid;
  std::optional<Encoded> test;

  const Encoded& at(Split split) const;  // InputError if there is no test text
};

/// InputError if a text has fewer than two symbols: the first is context only.
Corpus encode_corpus(const CorpusText& text, const Vocabulary& vocabulary);

}  // namespace rondo

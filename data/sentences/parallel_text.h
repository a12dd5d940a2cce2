// Parallel text: pairs of files in which line n of one file is the translation of line n of the other.
// The texts of one language alone are in data/text/corpus.h. Read next: data/sentences/pairs.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "data/text/corpus.h"
#include "data/text/symbols.h"
#include "tensor/keys.h"

namespace rondo {

/// The names of the files: with the defaults and the languages de and en, train.de and train.en are the
/// training text.
struct ParallelOptions {
  std::string source_language{}, target_language{};             // the ends of the names, after the last dot
  std::string train = "train", valid = "valid", test = "test";  // the names before it; test may be empty
  /// In place of files: pairs of data/sentences/reversal_task.h to train on; 0: none.
  std::int64_t generated_pairs = 0;
};
/// `source_language`, `target_language`, `train_files`, `valid_files`, `test_files`, `generated_pairs`.
Keys keys_of(ParallelOptions& options);
/// InputError for a missing language or name, and for one language twice, unless the text is generated.
void check_options(const ParallelOptions& options);
/// InputError if a folder is named, by --data, for a text that is generated.
void check_generated_has_no_folder(const ParallelOptions& options, const std::string& folder);

/// Two texts with the same number of lines. A last line without a newline gets one.
struct TextPair {
  TextPair() = default;
  /// InputError, with the names and both numbers, if these differ.
  TextPair(Text source, Text target);

  Text source, target;
  std::int64_t lines = 0;
  bool has_gaps = false;  // a line whose target is empty gives no pair: data/sentences/line_pairs.h
};

struct ParallelText {
  TextPair train, valid;
  std::optional<TextPair> test;
  std::vector<FileDigest> files;   // every file that was read: source, target, source, ...
  std::vector<std::string> notes;  // for the user: what was normalised

  const TextPair& at(Split split) const;  // InputError if there is no test text
};

/// Reads the files of a folder, or generates the text. There is no test text if its name is empty or neither
/// of its files exists. InputError for options that check_options() refuses; for any other file that is
/// missing, naming similar files of the folder; for empty files, pipes and folders, and, except as bytes,
/// with the line, for what is not UTF-8 or has NUL bytes; for different numbers of lines.
ParallelText open_parallel_text(const std::filesystem::path& folder, const ParallelOptions& options,
                                Unit unit);

/// One side of another text of pairs: the file `prefix`.`language`, whole. The same InputErrors for it.
Text open_side(const std::filesystem::path& prefix, const std::string& language, Unit unit);

}  // namespace rondo

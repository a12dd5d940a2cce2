// The corpus: finds training, validation and test text, and encodes it. It downloads nothing and guesses
// no unit. Read next: data/text/streams.h; for pairs of sentences data/sentences/pairs.h.
//
// Text and EncodedText are the symbols and the ids of one split. The vocabulary (data/text/vocabulary.h) is
// made from the former and gives the latter. Neither is in memory if the text is long: its files are read in
// blocks, and its ids lie in a file that is mapped (data/text/source.h).
//
// A file may be compressed: instead of train.txt there may be train.txt.gz or train.txt.zst.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "data/text/source.h"
#include "data/text/vocabulary.h"

namespace rondo {

using CorpusText = Splits<Text>;

/// The files in a folder that shell patterns name; empty if there are none. A part `**` of a path stands for
/// any folders, also for none.
std::vector<std::filesystem::path> files_named(const std::filesystem::path& folder,
                                               const std::vector<std::string>& patterns);

/// `path` is a folder with train.txt, valid.txt and perhaps test.txt; or one text file, whose last two
/// twentieths become valid and test, cut at ends of lines; if a line is longer than that, between words or
/// else symbols. Without train.txt the files train-*.txt are the training text. A pipe is always held in
/// memory. InputError for anything missing, empty, unreadable, or too short to cut, for pipes in a folder,
/// and for validation or test text among the files of the training text.
CorpusText open_corpus(const std::filesystem::path& path, Unit unit, Pipes pipes = Pipes::accepted,
                       const TextReading& reading = {});

/// One text made of many files, in C-locale order of their paths: every tenth block of `block_lines` lines is
/// held out as validation text. A last line without a newline gets one; empty files are skipped. No
/// test text. InputError if there are no files, or fewer than ten blocks.
CorpusText corpus_of_files(std::vector<std::filesystem::path> paths, std::int64_t block_lines, Unit unit,
                           const TextReading& reading = {});

/// One text of any length in a file. Throws InputError as TextSource does.
Text open_text_file(const std::filesystem::path& path, Unit unit, Pipes pipes, const TextReading& reading);

/// A text to ids, on all threads. Of a long text they are in a file in the folder `cache`, which is made if
/// it is missing; a file that is there already, of the same text and vocabulary and undamaged, is used.
/// InputErrors of Vocabulary::encode(), if a long text has changed, and if there is no such folder; Error if
/// the file cannot be written.
EncodedText encode_text(const Text& text, const Vocabulary& vocabulary,
                        const std::filesystem::path& cache = {});
/// The file of a long text's ids in the folder `cache`.
std::filesystem::path ids_path(const Text& text, const Vocabulary& vocabulary,
                               const std::filesystem::path& cache);

}  // namespace rondo

// Labelled text: sentences of a few classes, such as questions by what they ask for or reviews by whether
// they are positive. A line of a file is a label, a space and a sentence:
//
//   5 How far is it from Denver to Aspen ?
//
// Read next: nn/models/sentence_classifier.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/sentences/sentence_batches.h"
#include "data/text/vocabulary.h"
#include "tensor/keys.h"

namespace rondo {

/// How the bytes of a file stand for characters. Windows-1252 has the letters of Latin-1 (ISO 8859-1) and
/// typographic marks where that has none.
enum class Encoding { utf8, windows_1252 };
inline std::vector<std::string> names_of(Encoding) { return {"utf8", "windows_1252"}; }

/// Converts a text to UTF-8. The five bytes that Windows-1252 does not define become control characters, as
/// in web browsers (WHATWG Encoding Standard).
std::string utf8_of_windows_1252(std::string_view text);

struct LabelledFiles {
  std::string train = "train.txt", valid = "valid.txt", test = "test.txt";  // empty: no such file
  double valid_share = 0, test_share = 0;  // of the training file, held out where there is no file
  Encoding encoding = Encoding::utf8;
};
Keys keys_of(LabelledFiles& files);
/// Throws InputError for no training or validation text, and for a file beside a share.
void check_options(const LabelledFiles& files);

/// The sentences of one split, in the order of their file.
struct LabelledText {
  Text sentences{};                   // a sentence a line, without labels
  std::vector<std::string> labels{};  // of each sentence
  std::vector<std::int64_t> lines{};  // its line in the file, from 1
  std::string left_out{};             // the note about lines without one of them; empty: none
};

using LabelledTexts = Splits<LabelledText>;

/// A file as text of its encoding, with the digest of its bytes. InputError for a file that is missing,
/// empty, a pipe or a folder, or, except as bytes, not in its encoding or with NUL bytes. Windows-1252 is not
/// for bytes.
Text read_labelled_file(const std::filesystem::path& file, Encoding encoding, Unit unit);
/// One split from the content of a file. Lines without a label or without a sentence are left out; InputError
/// if all are.
LabelledText labelled_text(Text file);

/// Reads the files of a folder. There is no test text if its name is empty, or no such file exists, and its
/// share is 0. What is held out does not depend on the seed of a training, so that all runs are measured on
/// the same sentences. InputErrors of check_options() and labelled_text(); for files that are missing, empty,
/// pipes or folders, or, except as bytes, not in their encoding or with NUL bytes; for a share of no
/// sentence, or of all.
LabelledTexts open_labelled_texts(const std::filesystem::path& folder, const LabelledFiles& files, Unit unit);

/// The classes, in the order of their names, as a vocabulary of this tokenization, in which any text is a
/// symbol; labels.txt is its to_text(). InputError if the training text has only one.
Vocabulary labels_of(const LabelledText& train);
inline constexpr Tokenization tokenization_of_labels{.unit = Unit::pieces};

/// The ids of the labels of a text. InputError, with the line, for a label that is none of labels_of().
std::vector<std::int32_t> ids_of_labels(const LabelledText& text, const Vocabulary& labels);

struct LabelledSentences {
  Sentences sentences;
  std::vector<std::int32_t> labels;  // of each sentence

  std::int64_t size() const { return sentences.size(); }
  std::int64_t scored() const { return size(); }
  BatchOrder::Lengths lengths(std::int64_t i) const { return {sentences.length(i), 0}; }
};
/// InputErrors of ids_of_labels() and encode_sentences().
LabelledSentences encode_labelled(const LabelledText& text, const Vocabulary& vocabulary,
                                  const Vocabulary& labels);

// --- Batches ---

struct LabelledBatch {
  BatchShare share;                  // of the whole batch
  PaddedSentences sentences;         // T steps of B sentences
  std::vector<std::int32_t> labels;  // [B]
};

using LabelledBatches = BatchesOf<LabelledSentences, LabelledBatch>;
void fill_batch(LabelledBatch& batch, const LabelledSentences& sentences, const SentenceBatchOptions& options,
                std::span<const std::int64_t> whole, const BatchOrder& order);

}  // namespace rondo

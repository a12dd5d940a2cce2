// The sets of sentences that `lm eval RUN --sentences FOLDER` measures vectors on: found in a folder by the
// names of their files. The formats: data/sentence_pairs.h, data/labelled_sentences.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rondo {

enum class SentenceSetKind { relatedness, paraphrase, classification };

/// A part of a set: sentences, or pairs of them, and what is to be predicted.
struct SentenceSplit {
  std::vector<std::string> sentences, others{};  // of pairs the first and the second
  std::vector<double> scores{};                  // of relatedness
  std::vector<std::int32_t> labels{};            // of the other kinds
};

struct SentenceSet {
  std::string name;
  SentenceSetKind kind;
  std::int64_t classes = 2;
  std::vector<SentenceSplit> splits{};  // all in one, or train and test, or train, trial and test
  std::vector<std::string> sha256{};    // "HEX  FILE" of its files

  /// What is scored: the sentences of the test text, or all.
  std::int64_t scored() const { return std::ssize(splits.back().sentences); }
};

/// The known sets of these folders, in the order of the folders. InputError for a folder with none, which
/// names the files that it looked for; for files of a set that are missing; for fewer sentences to train on
/// than cross-validation has parts; and those of the formats.
std::vector<SentenceSet> read_sentence_sets(const std::vector<std::string>& folders);

}  // namespace rondo

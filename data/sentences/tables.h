// Tables in text files: pairs of sentences with a judgment, and words with their vectors. Used by
// lm/evaluation/sentence_tasks.h and lm/tasks/language_modelling.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rondo {

// --- Pairs of sentences with a judgment ---
// Their files have tab-separated columns: how related the two are (SICK, Marelli et al. 2014), or whether
// they mean the same (the Microsoft Research Paraphrase Corpus, Dolan et al. 2004).

struct JudgedPairs {
  std::vector<std::string> first, second;
  std::vector<double> judgments;
  std::string sha256;    // of the file
  std::string left_out;  // the note about lines that are no pair with a judgment; empty: none

  std::int64_t size() const { return std::ssize(judgments); }
};

/// The names of the columns in a file's first line.
struct PairColumns {
  std::string first, second, judgment;
};
inline const PairColumns sick_columns{"sentence_A", "sentence_B", "relatedness_score"};
inline const PairColumns paraphrase_columns{"#1 String", "#2 String", "Quality"};

/// A judgment between `least` and `most` of each line. If `bare`, a file whose first line does not have these
/// names has no names, and three columns: judgment, sentence, sentence. Lines with fewer columns, an empty
/// sentence or another judgment are left out; InputError if all are, and for a file without the columns or
/// without pairs.
JudgedPairs read_judged_pairs(const std::filesystem::path& file, const PairColumns& columns, double least,
                              double most, bool bare = false);

// --- Word vectors ---
// In the text format of word2vec and GloVe: a word and its numbers on each line, separated by spaces;
// word2vec's files begin with a line of two counts, of the words and of the numbers of each.

/// Calls `use` with each word and its numbers; the file is read line by line and not held in memory. Returns
/// how many numbers each vector has. InputError, naming the line, for a vector of another width than the
/// first one, for what is no number or one that a float cannot hold, for a file without a vector or with
/// fewer than it announces, and for the binary form of word2vec.
std::int64_t read_word_vectors(const std::filesystem::path& file,
                               const std::function<void(std::string_view, std::span<const double>)>& use);

}  // namespace rondo

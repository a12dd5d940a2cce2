// Pairs of sentences with a judgment, in files of tab-separated columns: how related the two are (SICK,
// Marelli et al. 2014), or whether they mean the same (the Microsoft Research Paraphrase Corpus, Dolan et
// al. 2004). Used by lm/evaluation/sentence_tasks.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace rondo {

struct JudgedPairs {
  std::vector<std::string> first, second;
  std::vector<double> judgments;
  std::string sha256;  // of the file

  std::int64_t size() const { return std::ssize(judgments); }
};

/// The names of the columns in a file's first line.
struct PairColumns {
  std::string first, second, judgment;
};
inline const PairColumns sick_columns{"sentence_A", "sentence_B", "relatedness_score"};
inline const PairColumns paraphrase_columns{"#1 String", "#2 String", "Quality"};

/// A judgment between `least` and `most` of each line. If `bare`, a file whose first line does not have these
/// names has no names, and three columns: judgment, sentence, sentence. InputError, naming the line, for a
/// file without the columns, without pairs, for an empty sentence, and for other judgments.
JudgedPairs read_judged_pairs(const std::filesystem::path& file, const PairColumns& columns, double least,
                              double most, bool bare = false);

}  // namespace rondo

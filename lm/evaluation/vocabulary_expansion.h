// Vocabulary expansion: vectors for words that a model was not trained on, from word vectors that were
// trained elsewhere, on more text. Kiros et al. 2015, section 2.2 (after Mikolov, Le & Sutskever 2013): a
// linear map W from those vectors v to the model's own vectors v',
//
//   W = argmin sum_w |v'_w - W v_w|^2   over the words w that both have
//
// without a penalty and without an offset, gives any word of the file the vector W v. The files:
// data/word_vectors.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "data/vocabulary.h"
#include "nn/models/skip_thought.h"

namespace rondo {

struct VocabularyExpansion {
  Vocabulary vocabulary;         // that of the model, then the new words
  std::vector<Variable> tables;  // for each part of the model, E with a row for each new word
  std::int64_t shared = 0;       // words that the map was found from
  std::int64_t asked = 0, found = 0;
};

/// With rows for those of `words`, none of which is in the vocabulary, that the file has. InputError for a
/// vocabulary of other symbols than words, for fewer shared words than W has columns, for a vector that the
/// map makes too large, and those of read_word_vectors().
VocabularyExpansion expand_vocabulary(const SkipThought& model, const Vocabulary& vocabulary,
                                      const std::filesystem::path& file,
                                      const std::vector<std::string>& words);

/// The least-squares solution W [D, E] of X W = Y, from the sums X^T X [D, D] and X^T Y [D, E], by Cholesky's
/// decomposition. InputError, which begins with `name`, if X has not D independent columns.
std::vector<double> least_squares(std::vector<double> XtX, std::vector<double> XtY, std::int64_t D,
                                  const std::string& name);

}  // namespace rondo

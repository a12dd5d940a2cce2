// Skip-thought vectors, and those of words that the model has not seen. Next: lm/tasks/skip_thought.h; how
// useful the vectors are for other tasks: lm/evaluation/sentence_tasks.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "data/sentences/sentence_triples.h"
#include "data/text/vocabulary.h"
#include "lm/evaluation/evaluation.h"
#include "nn/models/skip_thought.h"

namespace rondo {

// --- Vectors ---
// Sentence vectors: what a model of sentences computes, and what classifiers of sentences read.

/// Rows of numbers, one after another.
struct Vectors {
  std::int64_t width = 0;
  std::vector<float> numbers{};

  std::int64_t size() const { return width == 0 ? 0 : std::ssize(numbers) / width; }
  std::span<const float> operator[](std::int64_t row) const {
    return std::span(numbers).subspan(static_cast<std::size_t>(row * width), static_cast<std::size_t>(width));
  }
  std::span<float> operator[](std::int64_t row) {
    return std::span(numbers).subspan(static_cast<std::size_t>(row * width), static_cast<std::size_t>(width));
  }
};

/// Each row divided by its Euclidean length; a row of zeros stays.
Vectors of_unit_length(Vectors vectors);
/// |u - v| and u v of two rows side by side: what Tai et al. 2015 and Kiros et al. 2015 read of a pair.
Vectors pair_features(const Vectors& u, const Vectors& v);

/// A batch for the model, its ids on the model's device.
SentenceInput sentences_of(const PaddedSentences& batch, Tokens ids);
SentenceInput sentences_of(const ShiftedSentences& batch, Tokens inputs);

/// The vector of each sentence, in their order. `tables`, if not empty, has a table of word vectors for each
/// part of the model, into which the ids point. Dropout is off.
Vectors sentence_vectors(SkipThought& model, const Sentences& sentences,
                         const std::vector<Variable>& tables = {});

/// The baseline: the mean of the vectors of a sentence's words, without its end symbol, from the tables of
/// all parts; an empty sentence has zeros.
Vectors mean_word_vectors(SkipThought& model, const Sentences& sentences,
                          const std::vector<Variable>& tables = {});

// --- Vocabulary expansion ---
// Vocabulary expansion: vectors for words that a model was not trained on, from word vectors that were
// trained elsewhere, on more text. Kiros et al. 2015, section 2.2 (after Mikolov, Le & Sutskever 2013): a
// linear map W from those vectors v to the model's own vectors v',
//
//   W = argmin sum_w |v'_w - W v_w|^2   over the words w that both have
//
// without a penalty and without an offset, gives any word of the file the vector W v. The files:
// data/sentences/tables.h.

struct VocabularyExpansion {
  Vocabulary vocabulary;         // that of the model, then the new words
  std::vector<Variable> tables;  // for each part of the model, E with a row for each new word
  std::int64_t shared = 0;       // words that the map was found from
  std::int64_t found = 0;        // of the words that were asked for
};

/// Adds rows for those of `words`, none of which is in the vocabulary, that the file has. InputError for a
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

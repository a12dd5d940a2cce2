// An embedding that begins with the word vectors of another model: word2vec, GloVe, fastText
// (data/word_vectors.h).
#pragma once

#include <cstdint>
#include <filesystem>

#include "data/vocabulary.h"
#include "tensor/tensor.h"

namespace rondo {

/// Sets the rows of `table` [V, E] of words that the file has to their vectors, the first of each; the other
/// rows stay. Returns how many. InputErrors of read_word_vectors(); for vectors of another width than E, and
/// for a file without any word of the vocabulary.
std::int64_t set_word_vectors(const Tensor& table, const Vocabulary& vocabulary,
                              const std::filesystem::path& file);

}  // namespace rondo

// Word vectors in the text format of word2vec and GloVe: a word and its numbers on each line, separated by
// spaces; word2vec's files begin with a line of two counts. Used by
// lm/evaluation/skip_thought_evaluation.h and lm/tasks/language_modelling.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>

namespace rondo {

/// Calls `use` with each word and its numbers; the file is read line by line and not held in memory. Returns
/// how many numbers each vector has. InputError, naming the line, for a vector of another width than the
/// first one, for what is no number or one that a float cannot hold, and for a file without a vector.
std::int64_t read_word_vectors(const std::filesystem::path& file,
                               const std::function<void(std::string_view, std::span<const double>)>& use);

}  // namespace rondo

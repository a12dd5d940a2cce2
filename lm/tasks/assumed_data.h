// Made-up data of a task whose text is not there, for `lm info`, which measures the memory of a training
// (lm/training/memory.h): Task::assume().
#pragma once

#include <cstdint>
#include <vector>

#include "data/pairs.h"
#include "data/sentence_batches.h"

namespace rondo {

/// Ids of a text in which the r-th most frequent of V symbols has about 1 / r of the occurrences of the
/// first; but only of the first million, for evaluations count each. InputError for more ids than a machine
/// should hold.
std::vector<std::int32_t> some_ids(double count, std::int64_t V);
/// `count` sentences of `length` symbols, the last of which is 0, the end of a line.
Sentences some_sentences(std::int64_t count, std::int64_t length, std::int64_t V);
/// Few symbols, whose ids stand in texts of any size.
Vocabulary some_vocabulary();
/// The number of sentences of a batch.
std::int64_t sentences_of(const SentenceBatchOptions& batches, std::int64_t length);
/// The length of a sentence with its end; 40 where there is no limit.
std::int64_t length_within(std::int64_t max_length);

}  // namespace rondo

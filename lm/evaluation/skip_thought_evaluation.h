// How well skip-thought vectors predict the sentences around a sentence, and the vectors themselves. Next:
// lm/tasks/skip_thought.h; how useful the vectors are for other tasks: lm/evaluation/sentence_tasks.h.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "data/sentence_triples.h"
#include "lm/evaluation/evaluation.h"
#include "lm/evaluation/vectors.h"
#include "nn/models/skip_thought.h"

namespace rondo {

/// Of all symbols of the previous and the next sentence of each triple; of a combination of two models the
/// symbols count twice, once for each. Dropout is off. `progress` gets the number of triples done.
Evaluation evaluate_triples(SkipThought& model, const Triples& triples,
                            std::optional<std::int32_t> unknown_id = {},
                            const std::function<void(std::int64_t)>& progress = {});

/// A batch for the model, its ids on the model's device.
SkipModel::Sentences sentences_of(const PaddedSentences& batch, Tokens ids);
SkipModel::Sentences sentences_of(const ShiftedSentences& batch, Tokens inputs);

/// The vector of each sentence, in their order. `tables`, if not empty, has a table of word vectors for each
/// part of the model, into which the ids point. Dropout is off.
Vectors sentence_vectors(SkipThought& model, const Sentences& sentences,
                         const std::vector<Variable>& tables = {},
                         const std::function<void(std::int64_t)>& progress = {});

/// The baseline: the mean of the vectors of a sentence's words, without its end symbol, from the tables of
/// all parts; an empty sentence has zeros.
Vectors mean_word_vectors(SkipThought& model, const Sentences& sentences,
                          const std::vector<Variable>& tables = {});

}  // namespace rondo

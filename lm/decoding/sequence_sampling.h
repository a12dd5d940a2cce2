// Sentences sampled from a model, a batch at a time. The options are those of lm/decoding/sampling.h, which
// samples a text. Next: lm/decoding/beam_search.h, the most probable sentences.
#pragma once

#include <cstdint>
#include <vector>

#include "lm/decoding/predictor.h"
#include "lm/decoding/sampling.h"

namespace rondo {

/// One sentence for each of the predictor's, symbol by symbol until the end symbol, or cut off after
/// `max_length` symbols, including the end symbol. `numbers` are the B numbers of the sentences, such as
/// their lines: together with the options' seed they determine the random numbers, so that a sentence's
/// sample does not depend on the batch that it is in. A score is log p, which the temperature does not
/// change. Error for other than B numbers, and for a distribution without a possible symbol.
std::vector<Hypothesis> sample_sentences(Predictor& predictor, const SearchSymbols& symbols,
                                         const SamplingOptions& options, int64_t max_length,
                                         const std::vector<int64_t>& numbers);

}  // namespace rondo

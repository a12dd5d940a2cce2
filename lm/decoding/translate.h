// Translating with an encoder-decoder: beam search over batches of sentences. Next:
// lm/decoding/beam_search.h.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "data/sentences/sentence_batches.h"
#include "lm/decoding/beam_search.h"
#include "nn/models/encoder_decoder.h"

namespace rondo {

/// The best translations of each sentence, best first, as beam_search() gives them. Each source has its end
/// symbol; `reverse_source` as in training. `progress` gets the number of sentences done. Dropout is off.
std::vector<std::vector<Hypothesis>> translate(EncoderDecoder& model, const Sentences& sources,
                                               bool reverse_source, const SearchSymbols& symbols,
                                               const BeamOptions& options,
                                               const std::function<void(int64_t)>& progress = {});

}  // namespace rondo

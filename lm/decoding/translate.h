// Translating with an encoder-decoder: beam search over batches of sentences. Next:
// lm/decoding/beam_search.h.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "lm/decoding/beam_search.h"
#include "lm/decoding/predictor.h"
#include "nn/models/encoder_decoder.h"

namespace rondo {

/// The next symbols of the translations of some sentences. The weights must not change meanwhile.
class EncoderDecoderPredictor : public Predictor {
 public:
  EncoderDecoderPredictor(EncoderDecoder& model, EncoderDecoder::Source source);

  Prediction next(const std::vector<int32_t>& ids) override;
  void select(const std::vector<int64_t>& rows, const std::vector<int64_t>& sentences) override;
  int64_t sentences() const override { return source_.sentences; }
  int64_t vocabulary_size() const override { return model_.target_vocabulary(); }
  std::vector<int64_t> source_lengths() const override { return source_.states.lengths; }

 private:
  EncoderDecoder& model_;
  EncoderDecoder::Source source_;
  EncoderDecoder::Position position_;
  int64_t rows_ = 0;  // of the last begin_steps(); 0: none
};

/// The best translations of each sentence, best first, as beam_search() gives them. Each source has its end
/// symbol; `reverse_source` as in training. `progress` gets the number of sentences done. Dropout is off.
std::vector<std::vector<Hypothesis>> translate(EncoderDecoder& model,
                                               std::span<const std::vector<int32_t>> sources,
                                               bool reverse_source, const SearchSymbols& symbols,
                                               const BeamOptions& options,
                                               const std::function<void(int64_t)>& progress = {});

}  // namespace rondo

// An n-gram model as a Predictor, to search with or to fuse with another model (lm/decoding/fusion.h). The
// model: data/ngram_model.h.
#pragma once

#include <cstdint>
#include <vector>

#include "data/ngram_model.h"
#include "lm/decoding/predictor.h"

namespace rondo {

/// Hypotheses are lines: they start from `<s>`. A symbol that the model gives probability 0 ends up with
/// probability 0 in a fusion, too.
class NgramPredictor : public Predictor {
 public:
  /// `model` must outlive it; `line_end` is its id of the end symbol. Error if there is no such symbol.
  NgramPredictor(const NgramModel& model, int32_t line_end, int64_t sentences);

  /// On the host.
  Prediction next(const std::vector<int32_t>& ids) override;
  void select(const std::vector<int64_t>& rows, const std::vector<int64_t>& sentences) override;
  int64_t sentences() const override { return sentences_; }
  int64_t vocabulary_size() const override { return model_.symbols(); }

 private:
  const NgramModel& model_;
  int32_t line_end_;
  int64_t sentences_;
  std::vector<NgramModel::State> contexts_;  // by row
};

}  // namespace rondo

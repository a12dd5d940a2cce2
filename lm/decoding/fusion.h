// Shallow fusion (Gulcehre et al. 2015, "On Using Monolingual Corpora in Neural Machine Translation"): a
// model whose hypotheses are scored by others as well, such as a language model of the target language. Next:
// lm/decoding/ngram_predictor.h.
#pragma once

#include <cstdint>
#include <vector>

#include "lm/decoding/predictor.h"

namespace rondo {

/// log_p = log p of the model + the sum over the others of weight * log p. This is no distribution, and is
/// not made one. Attention and the device of the results are the model's.
class FusedPredictor : public Predictor {
 public:
  struct Other {
    Predictor& predictor;
    double weight;
  };
  /// All predictors must outlive it and be used by nobody else; that an id is the same symbol for all of them
  /// is the caller's concern. Others of weight 0 are left out. Error for other numbers of sentences or
  /// symbols than the model's, and for a weight below 0, with which a longer hypothesis could become more
  /// probable.
  FusedPredictor(Predictor& model, std::vector<Other> others);

  Prediction next(const std::vector<int32_t>& ids) override;
  void select(const std::vector<int64_t>& rows, const std::vector<int64_t>& sentences) override;
  int64_t sentences() const override { return model_.sentences(); }
  int64_t vocabulary_size() const override { return model_.vocabulary_size(); }
  std::vector<int64_t> source_lengths() const override { return model_.source_lengths(); }

 private:
  Predictor& model_;
  std::vector<Other> others_;
};

}  // namespace rondo

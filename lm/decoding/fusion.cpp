// Shallow fusion; see lm/decoding/fusion.h.
#include "lm/decoding/fusion.h"

#include <cmath>

#include "tensor/error.h"

namespace rondo {

FusedPredictor::FusedPredictor(Predictor& model, std::vector<Other> others) : model_(model) {
  for (const Other& it : others) {
    check(it.predictor.sentences() == sentences() && it.predictor.vocabulary_size() == vocabulary_size(),
          "[fusion] {} sentences and {} symbols were expected, as of the model: {}, {}", sentences(),
          vocabulary_size(), it.predictor.sentences(), it.predictor.vocabulary_size());
    check(std::isfinite(it.weight) && it.weight >= 0, "[fusion] a weight of 0 or more was expected: {}",
          it.weight);
    if (it.weight > 0) others_.push_back(it);  // 0 * log 0 is not a number
  }
}

Predictor::Prediction FusedPredictor::next(const std::vector<int32_t>& ids) {
  Prediction prediction = model_.next(ids);
  prediction.log_p = clone(prediction.log_p);  // the model may still need it
  for (const Other& it : others_) {
    const Tensor log_p = it.predictor.next(ids).log_p;
    accumulate(log_p.to(prediction.log_p.device()), prediction.log_p, static_cast<real>(it.weight));
  }
  return prediction;
}

void FusedPredictor::select(const std::vector<int64_t>& rows, const std::vector<int64_t>& sentences) {
  model_.select(rows, sentences);
  for (const Other& it : others_) it.predictor.select(rows, sentences);
}

}  // namespace rondo

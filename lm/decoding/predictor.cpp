// Fused models, and n-gram models as Predictors; see lm/decoding/predictor.h.
#include "lm/decoding/predictor.h"

#include <algorithm>
#include <cmath>

#include "tensor/error.h"

namespace rondo {

// --- Shallow fusion ---

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

// --- N-gram models ---

NgramPredictor::NgramPredictor(const NgramModel& model, int32_t line_end, int64_t sentences)
    : model_(model),
      line_end_(line_end),
      sentences_(sentences),
      contexts_(static_cast<size_t>(sentences), model.line_start()) {
  check(line_end >= 0 && line_end < model.symbols(), "[ngram predictor] a symbol below {} was expected: {}",
        model.symbols(), line_end);
}

Predictor::Prediction NgramPredictor::next(const std::vector<int32_t>& ids) {
  check(ids.size() == contexts_.size(), "[ngram predictor] {} ids were expected: {}", contexts_.size(),
        ids.size());
  const Tensor log_p({std::ssize(ids), vocabulary_size()});
  real* row = log_p.mutable_data();
  std::vector<double> distribution(static_cast<size_t>(vocabulary_size()));
  for (size_t i = 0; i < ids.size(); ++i, row += log_p.row_stride()) {
    contexts_[i] = ids[i] == line_end_ ? model_.line_start() : model_.step(contexts_[i], ids[i]).next;
    model_.distribution(contexts_[i], distribution);
    std::copy(distribution.begin(), distribution.end(), row);
  }
  return {log_p};
}

void NgramPredictor::select(const std::vector<int64_t>& rows, const std::vector<int64_t>& sentences) {
  std::vector<NgramModel::State> selected;
  for (const int64_t row : rows) selected.push_back(contexts_.at(static_cast<size_t>(row)));
  contexts_ = std::move(selected);
  sentences_ = std::ssize(sentences);
}

}  // namespace rondo

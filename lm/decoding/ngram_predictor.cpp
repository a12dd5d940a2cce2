// An n-gram model as a Predictor; see lm/decoding/ngram_predictor.h.
#include "lm/decoding/ngram_predictor.h"

#include <algorithm>

#include "tensor/error.h"

namespace rondo {

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

// What all searches do with a model; see lm/decoding/predictor.h.
#include "lm/decoding/predictor.h"

#include "tensor/error.h"

namespace rondo {

Predictor::Prediction next_on_host(Predictor& predictor, const std::vector<int32_t>& ids) {
  Predictor::Prediction prediction = predictor.next(ids);
  const Shape expected{std::ssize(ids), predictor.vocabulary_size()};
  check(prediction.log_p.shape() == expected, "[search] log probabilities {} were expected: {}", expected,
        prediction.log_p.shape());
  check(!prediction.attention.defined() || prediction.attention.rows() == std::ssize(ids),
        "[search] attention of {} hypotheses was expected: {}", ids.size(), prediction.attention.shape());
  prediction.log_p = prediction.log_p.to(Device::cpu);
  return prediction;
}

void select_rows(Predictor& predictor, const std::vector<int64_t>& rows,
                 const std::vector<int64_t>& sentences, int64_t old_rows) {
  bool same = std::ssize(sentences) == predictor.sentences() && std::ssize(rows) == old_rows;
  for (int64_t i = 0; same && i < old_rows; ++i) same = rows[static_cast<size_t>(i)] == i;
  if (!same) predictor.select(rows, sentences);
}

void check_symbols(const SearchSymbols& symbols, const Predictor& predictor) {
  for (const int32_t id : {symbols.end, symbols.unknown.value_or(symbols.end)})
    check(id >= 0 && id < predictor.vocabulary_size(), "[search] a symbol below {} was expected: {}",
          predictor.vocabulary_size(), id);
}

}  // namespace rondo

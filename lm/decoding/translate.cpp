// Translating with an encoder-decoder.
#include "lm/decoding/translate.h"

#include <algorithm>
#include <numeric>

namespace rondo {

namespace {

/// The next symbols of the translations of some sentences. The weights must not change meanwhile.
class EncoderDecoderPredictor : public Predictor {
 public:
  EncoderDecoderPredictor(EncoderDecoder& model, EncoderDecoder::Source source)
      : model_(model), source_(std::move(source)), position_(model.first_position(source_)) {}

  Prediction next(const std::vector<int32_t>& ids) override {
    if (const auto rows = std::ssize(ids); rows != rows_) model_.begin_steps(rows_ = rows);
    auto [output, after] = model_.step(tokens(ids), position_, source_);
    position_ = std::move(after);
    return {log_softmax(model_.logits(output.readout)).value(),
            output.attention.defined() ? output.attention.value() : Tensor()};
  }
  void select(const std::vector<int64_t>& rows, const std::vector<int64_t>& sentences) override {
    position_ = model_.select(position_, rows);
    if (std::ssize(sentences) != source_.sentences) source_ = model_.select(source_, sentences);
  }
  int64_t sentences() const override { return source_.sentences; }
  std::vector<int64_t> source_lengths() const override {
    return {source_.states.lengths.begin(), source_.states.lengths.end()};
  }

 private:
  EncoderDecoder& model_;
  EncoderDecoder::Source source_;
  EncoderDecoder::Position position_;
  int64_t rows_ = 0;  // of the last begin_steps(); 0: none
};

}  // namespace

std::vector<std::vector<Hypothesis>> translate(EncoderDecoder& model, const Sentences& sources,
                                               bool reverse_source, const SearchSymbols& symbols,
                                               const BeamOptions& options,
                                               const std::function<void(int64_t)>& progress) {
  const EvaluationMode no_dropout(model);
  const NoGradient no_history;
  // Sentences of like length together, enough of them for products at full speed.
  const auto at_once = static_cast<size_t>(std::max<int64_t>(1, 256 / options.beam));
  std::vector<int64_t> order(static_cast<size_t>(sources.size()));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater(), [&](int64_t i) { return sources.length(i); });
  std::vector<std::vector<Hypothesis>> translations(order.size());
  for (size_t begin = 0; begin < order.size(); begin += at_once) {
    const std::span<const int64_t> some =
        std::span(order).subspan(begin, std::min(at_once, order.size() - begin));
    const PaddedSentences batch = padded(sources.at(some), reverse_source);
    EncoderDecoderPredictor predictor(
        model, model.encode({tokens(batch.ids), batch.steps, batch.sentences, batch.lengths}));
    auto found = beam_search(predictor, symbols, options);
    for (size_t i = 0; i < some.size(); ++i) {
      if (reverse_source)  // attention as the source was written; its end is last in any case
        for (Hypothesis& hypothesis : found[i])
          for (std::vector<float>& weights : hypothesis.attention)
            std::reverse(weights.begin(), weights.end() - 1);
      translations[static_cast<size_t>(some[i])] = std::move(found[i]);
    }
    if (progress) progress(static_cast<int64_t>(begin + some.size()));
  }
  return translations;
}

}  // namespace rondo

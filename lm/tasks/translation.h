// Translation as a task: batches of pairs of sentences, and the loss of each next symbol of the target after
// its true previous symbols (teacher forcing). Next: data/pair_batches.h, nn/models/encoder_decoder.h,
// lm/evaluation/translation_evaluation.h.
#pragma once

#include <string>
#include <vector>

#include "lm/evaluation/translation_evaluation.h"
#include "lm/tasks/sentence_task.h"

namespace rondo {

/// A figure by which the best weights are chosen: nats per target symbol, BLEU, or chrF.
enum class TranslationFigure { nats, bleu, chrf };
inline std::vector<std::string> names_of(TranslationFigure) { return {"nats", "bleu", "chrf"}; }

struct TranslationOptions {
  PairBatchOptions batches{};
  double label_smoothing = 0;  // autograd/cross_entropy.h
  TranslationFigure decides = TranslationFigure::nats;
  int64_t eval_beam = 1;  // in evaluations during training
  BleuTokenization bleu_tokenization = BleuTokenization::mteval_13a;
};
/// Includes the keys of PairBatchOptions.
Keys keys_of(TranslationOptions& options);
/// InputError for settings out of range.
void check_options(const TranslationOptions& options);

class Translation : public SentenceTask<PairBatches, PairBatch> {
 public:
  /// The model and the texts must outlive it. The seed determines the order of the batches. InputErrors of
  /// check_options() and PairBatches.
  Translation(EncoderDecoder& model, const TranslationOptions& options, const Pairs& train,
              const TranslationText& valid, uint64_t seed = 1);

  Module& model() override { return model_; }
  Loss loss(int64_t part, const std::vector<Tokens>& indices, RandomContext random) override;
  std::string remedy_for_memory() const override;
  int64_t scored_per_epoch() const override { return batches_.scored(); }
  /// The deciding figure on the validation text, the others beside it; if that has no references, the nats
  /// alone. `progress` gets the number of sentences done.
  Figure evaluate(const std::function<void(int64_t)>& progress = {}) override;

 private:
  void stage(Batch& batch) const override;

  EncoderDecoder& model_;
  TranslationOptions options_;
  const TranslationText& valid_;
};

/// All figures as one: the deciding one, and the others beside it.
Figure figure_of(TranslationFigure decides, const Evaluation& nats, const TranslationScores& scores,
                 int64_t sentences, int64_t beam, double seconds);

}  // namespace rondo

// Dynamic evaluation, Krause, Kahembwe, Murray & Renals 2018, "Dynamic Evaluation of Neural Sequence Models":
// the weights are updated, by gradient descent, on the text that the model has just been scored on. This file
// has the gradient statistics that the update divides by, and the changing weights. The loop over the text is
// in lm/evaluation/evaluation.h, the formula of the update in optim/updates.h (DynamicUpdate). Next:
// lm/evaluation/adaptive_evaluation.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "lm/evaluation/scores.h"
#include "nn/models/language_model.h"
#include "tensor/keys.h"

namespace rondo {

/// Whether learning rate, decay and epsilon are for means of squares over batches and over tensors, or for
/// sums instead of means, as in the paper.
enum class DynamicStyle { means, sums };
inline std::vector<std::string> names_of(DynamicStyle) { return {"new", "old"}; }

/// The defaults are a fair start for a model of words; tune the learning rate
/// (lm/evaluation/adaptive_evaluation.h).
struct DynamicOptions {
  double learning_rate = 5e-5, decay = 0.002, epsilon = 2e-5;
  int64_t length = 5;                // of the chunks between updates
  int64_t statistics_streams = 100;  // streams of the batches that the statistics are computed over
  DynamicStyle style = DynamicStyle::means;
};
Keys keys_of(DynamicOptions& options);

/// The size of the gradients over the training text.
struct GradientStatistics {
  Tensor rms;           // of each weight's gradient over the batches, laid out like the model's values
  double mean_rms = 0;  // the mean over tensors (tied ones count once) of each tensor's mean
  int64_t tensors = 0, batches = 0, symbols = 0;
};

/// Reads the training text once, in `statistics_streams` streams by `length` steps. A batch is such a chunk,
/// and its loss is the mean over its symbols; symbols that do not fill a step of all streams are left out.
/// Dropout is off. The weights do not change, and gradients are zero afterwards. InputError if the text is
/// too short for the streams. `progress` gets the number of symbols done.
GradientStatistics gradient_statistics(
    LanguageModel& model, std::span<const int32_t> train_ids, const DynamicOptions& settings,
    const ReportDone& progress = [](int64_t) {});

/// While it exists, the weights of a model can learn; the destructor restores them.
class DynamicWeights {
 public:
  /// `model` must outlive it.
  DynamicWeights(LanguageModel& model, const GradientStatistics& statistics, const DynamicOptions& settings);
  ~DynamicWeights();
  DynamicWeights(const DynamicWeights&) = delete;
  DynamicWeights& operator=(const DynamicWeights&) = delete;

  /// Makes one update by the gradient of the mean loss; `total` is the sum over `symbols` symbols, in nats.
  /// No clipping.
  void learn(const Variable& total, int64_t symbols);

 private:
  LanguageModel& model_;
  const GradientStatistics& statistics_;
  DynamicOptions settings_;  // converted to DynamicStyle::means
  Tensor start_;             // the trained weights
};

}  // namespace rondo

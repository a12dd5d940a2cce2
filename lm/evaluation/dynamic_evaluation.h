// Dynamic evaluation, Krause, Kahembwe, Murray & Renals 2018, "Dynamic Evaluation of Neural Sequence Models":
// the weights are updated, by gradient descent, to the text that the model has just been scored on. Here are
// the statistics that its update divides by, and the weights that move. Deliberately not the reading
// (lm/evaluation/evaluation.h) nor the pass over the weights itself (DynamicUpdate in optim/updates.h). Next:
// lm/evaluation/adaptive_evaluation.h.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "nn/models/language_model.h"
#include "tensor/keys.h"

namespace rondo {

/// Whether rate, decay and epsilon are meant for means of squares over batches, and over tensors, or for
/// sums in their place, as the paper's are.
enum class DynamicStyle { means, sums };
inline std::vector<std::string> names_of(DynamicStyle) { return {"new", "old"}; }

/// The defaults are a fair start for a model of words; the learning rate is best tuned
/// (lm/evaluation/tuning.h).
struct DynamicOptions {
  double learning_rate = 5e-5, decay = 0.002, epsilon = 2e-5;
  int64_t length = 5;                // of the chunks that are learned from
  int64_t statistics_streams = 100;  // of the batches over which gradients are measured
  DynamicStyle style = DynamicStyle::means;
};
Keys keys_of(DynamicOptions& options);

/// How large gradients are over the training text.
struct GradientStatistics {
  Tensor rms;           // of each weight's gradient over the batches, laid out like the model's values
  double mean_rms = 0;  // the mean over tensors, tied ones being one, of the mean of each
  int64_t tensors = 0, batches = 0, symbols = 0;
};

/// Reads the training text once, in `statistics_streams` streams by `length` steps. A batch is such a chunk,
/// its loss the mean over its symbols; what does not fill a step of all streams is left out. Without dropout
/// of any kind. The weights stay as they are, and gradients are zero afterwards. InputError if the text is
/// too short for the streams. `progress` is told the symbols done.
GradientStatistics gradient_statistics(
    LanguageModel& model, std::span<const int32_t> train_ids, const DynamicOptions& settings,
    const std::function<void(int64_t)>& progress = [](int64_t) {});

/// The weights of a model that learn while this lives, and are put back when it ends, however it ends.
class DynamicWeights {
 public:
  /// `model` must outlive it.
  DynamicWeights(LanguageModel& model, const GradientStatistics& statistics, const DynamicOptions& settings);
  ~DynamicWeights();
  DynamicWeights(const DynamicWeights&) = delete;
  DynamicWeights& operator=(const DynamicWeights&) = delete;

  /// One step along the gradient of the mean loss, from the total of so many symbols in nats. No clipping.
  void learn(const Variable& total, int64_t symbols);

 private:
  LanguageModel& model_;
  const GradientStatistics& statistics_;
  DynamicOptions settings_;  // for means
  Tensor start_;             // the trained weights
};

}  // namespace rondo

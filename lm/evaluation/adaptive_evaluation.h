// Evaluation of a model that adapts to the text it is scored on: by dynamic evaluation, a neural cache, or
// both, and the search for its settings. Each symbol is scored before the model learns from it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lm/evaluation/evaluation.h"
#include "lm/evaluation/scores.h"
#include "nn/models/language_model.h"
#include "tensor/keys.h"
#include "tensor/tensor.h"

namespace rondo {

// --- Cache ---
// The neural cache, Grave, Joulin & Usunier 2017, "Improving Neural Language Models with a Continuous Cache":
//   p = (1 - lambda) p_model + lambda p_cache,
//   p_cache(w) = sum over the last `window` positions i of softmax_i(theta h_t . h_i) [x_(i+1) = w],
// where h_i is the output of the last recurrent layer after x_i, before its dropout. The cache is empty at
// first; while it is empty, p = p_model. (The published code of AWD-LSTM uses it only when it is full.)

struct CacheOptions {
  int64_t window = 2000;
  double theta = 1, lambda = 0.1;
};
Keys keys_of(CacheOptions& options);

/// The cache's probabilities for one text, read from its beginning, for several windows and thetas at once,
/// which share the products of states.
class NeuralCache {
 public:
  /// States have `width` numbers; windows are 1 or more. InputError if that takes more memory than is
  /// available.
  NeuralCache(std::vector<int64_t> windows, std::vector<double> thetas, int64_t width);

  /// What read() returns for a target while the cache is empty.
  static constexpr double empty = -1;
  /// Reads the next positions of the text: their states, [n, width] as a matrix, and the n symbols after
  /// them. Returns p_cache of each symbol under each setting, element (r * windows + w) * thetas + t, and
  /// stores the symbols in the cache for later positions.
  std::vector<double> read(const Tensor& states, const std::vector<int32_t>& targets);

  /// The memory of one cache, in bytes.
  static int64_t memory(int64_t window, int64_t width);
  /// Throws the InputError of the constructor.
  static void check_fits(int64_t window, int64_t width);

 private:
  void read_block(const Tensor& states, const int32_t* targets, double* probabilities);

  std::vector<int64_t> windows_;
  std::vector<double> thetas_;
  int64_t window_;  // the largest
  // The stored positions end before row end_ of these, and the largest window begins window_ rows earlier.
  // Rows below first_ are unused: there the window would begin before the text.
  Tensor states_;               // [2 window + block, width]
  std::vector<int32_t> nexts_;  // the symbol after each
  int64_t end_, first_;
  Tensor products_, scores_;  // [block, window + block]: h_t . h_i, and times theta
};

/// -log((1 - lambda) p + lambda cached) for p = exp(-nats); `nats` where the cache was empty.
double mixed_nats(double nats, double cached, double lambda);

// --- Dynamic evaluation ---
// Dynamic evaluation, Krause, Kahembwe, Murray & Renals 2018, "Dynamic Evaluation of Neural Sequence Models":
// the weights are updated, by gradient descent, on the text that the model has just been scored on. The
// formula of the update is in optim/updates.h (DynamicUpdate).

/// Whether learning rate, decay and epsilon are for means of squares over batches and over tensors, or for
/// sums instead of means, as in the paper.
enum class DynamicStyle { means, sums };
inline std::vector<std::string> names_of(DynamicStyle) { return {"new", "old"}; }

/// The defaults are a fair start for a model of words; tune the learning rate.
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

// --- Adaptive evaluation ---

/// How the model adapts while a text is read.
struct Adaptation {
  std::optional<DynamicOptions> dynamic{};
  const GradientStatistics* statistics = nullptr;  // for `dynamic`
  std::optional<CacheOptions> cache{};
};
/// Its settings by their keys, and those of them that tune() searches.
std::vector<Detail> settings_of(const Adaptation& how);
std::vector<Detail> searched_settings_of(const Adaptation& how);

/// Reads the text as one stream from the initial state. With `dynamic`, each chunk of dynamic.length is
/// scored before the weights are updated from it, and its state is not recomputed; the weights are restored
/// at the end, also after an exception. With both methods, the cache is mixed into the probabilities of the
/// current weights, which learn from their own loss. Throws Diverged; InputErrors of evaluate_ids() and
/// NeuralCache.
Evaluation evaluate_adaptively(
    LanguageModel& model, std::span<const int32_t> ids, const Adaptation& how,
    std::optional<int32_t> unknown_id = {}, const ReportDone& progress = [](int64_t) {});

// --- Tuning ---
// A search for the settings of dynamic evaluation and the neural cache on a text, within a budget of scored
// symbols. The evaluation with the settings found is in lm/commands/eval.cpp.

/// The settings of a trial, and their result.
struct Trial {
  Adaptation how;
  double nats = 0;  // per symbol; infinite if the updates diverged
};

struct Tuned {
  Adaptation best;
  std::vector<Trial> trials;
  int64_t symbols = 0;  // scored in total: trials of the cache share one reading
  int64_t prefix = 0;   // scored by each reading: the first symbols of the text
};

/// Throws InputError for a budget of less than one symbol for each reading of the text in a search from
/// `start`.
void check_budget(const Adaptation& start, int64_t budget);

/// Searches around the settings of `start`, for the methods that it has. Dynamic evaluation: the learning
/// rate times 0.6 to 2, then the decay times 0.5 to 2.5, which are the values of Krause et al.'s released
/// code relative to its default. Then the cache, with the best dynamic evaluation and one reading for all
/// trials: theta, lambda and the window. Every reading is of the same first symbols, as many as the budget
/// allows; of equally good trials the first is chosen. `report` gets each trial when it is done, for the
/// cache the best lambda of each window and theta; `progress` gets the symbols scored so far and those of all
/// readings. InputErrors of check_budget().
Tuned tune(
    LanguageModel& model, std::span<const int32_t> ids, const Adaptation& start, int64_t budget,
    const std::function<void(const Trial&)>& report,
    const std::function<void(int64_t, int64_t)>& progress = [](int64_t, int64_t) {});

}  // namespace rondo

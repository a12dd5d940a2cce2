// Dynamic evaluation: see adaptive_evaluation.h.
#include <cmath>

#include "autograd/operators/arithmetic.h"
#include "autograd/operators/functions.h"
#include "data/text/streams.h"
#include "lm/evaluation/adaptive_evaluation.h"
#include "optim/updates.h"

namespace rondo {
namespace {

/// Converts settings for sums of squares over the batches, and for the sum over tensors of their roots, to
/// those of the same update with means. The first code of the paper's authors used sums.
DynamicOptions for_means(DynamicOptions settings, const GradientStatistics& statistics) {
  if (settings.style == DynamicStyle::means) return settings;
  const double root = std::sqrt(static_cast<double>(statistics.batches));
  settings.style = DynamicStyle::means;
  settings.learning_rate /= root;
  settings.epsilon /= root;
  settings.decay /= static_cast<double>(statistics.tensors);
  return settings;
}

void mean_backward(const Variable& total, int64_t symbols) {
  (total * (real(1) / static_cast<real>(symbols))).backward();
}

}  // namespace

Keys keys_of(DynamicOptions& options) {
  return {
      {"learning_rate", &options.learning_rate, at_least(0), "",
       "of lm eval --dynamic, for gradients divided by their root mean square over the training "
       "text"},
      {"decay", &options.decay, at_least(0), "",
       "lambda: in each update, a weight moves back by this share of its distance to the trained "
       "value, if its gradient's root mean square is the average one"},
      {"epsilon", &options.epsilon, at_least(1e-20), "",
       "added to the root mean square that divides the gradient"},
      {"length", &options.length, any_width(), "symbols", "between updates, also of the statistics"},
      {"statistics_streams", &options.statistics_streams, any_width(), "streams",
       "pieces of the training text that are read side by side for the statistics"},
      {"style", choice(options.style),
       "old: the settings are for sums of squares over batches and over tensors instead of means, "
       "as in the paper; they are converted"},
  };
}

GradientStatistics gradient_statistics(LanguageModel& model, std::span<const int32_t> train_ids,
                                       const DynamicOptions& settings, const ReportDone& progress) {
  GradientStatistics result;
  const Tensor squares = Tensor::zeros(model.values().shape(), model.values().device());
  fill(model.gradients(), 0);
  read_chunks(
      model,
      [&, streams = Streams::for_training(train_ids, settings.statistics_streams)](Chunk& chunk) mutable {
        return streams.next(settings.length, chunk);
      },
      [&](const ChunkResult& read) {
        mean_backward(read.loss.total, read.chunk.scored);
        apply_update(SquaresUpdate{}, {squares, model.gradients()}, {squares, model.gradients()});
        ++result.batches;
        progress(result.symbols += read.chunk.scored);
      });
  const NoGradient guard;
  result.rms = sqrt(Variable(squares) * (real(1) / static_cast<real>(result.batches))).value();
  result.tensors = std::ssize(model.segments());
  for (const Segment& segment : model.segments()) {
    const Tensor rms = part_of(result.rms, segment);
    result.mean_rms += sum(rms) / static_cast<double>(rms.size() * result.tensors);
  }
  check(!has_memory(squares.device()) || (std::isfinite(result.mean_rms) && result.mean_rms > 0),
        "[dynamic evaluation] the gradients of the training text have a root mean square of {}, which is no "
        "scale for updates",
        result.mean_rms);
  return result;
}

DynamicWeights::DynamicWeights(LanguageModel& model, const GradientStatistics& statistics,
                               const DynamicOptions& settings)
    : model_(model),
      statistics_(statistics),
      settings_(for_means(settings, statistics)),
      start_(clone(model.values())) {
  fill(model.gradients(), 0);
}

DynamicWeights::~DynamicWeights() {
  try {
    copy(start_, model_.values());
    fill(model_.gradients(), 0);
  } catch (const Error&) {
    // The GPU has failed: that error is being reported, and its memory is lost.
  }
}

void DynamicWeights::learn(const Variable& total, int64_t symbols) {
  mean_backward(total, symbols);
  const auto number = [](double x) { return static_cast<real>(x); };
  apply_update(DynamicUpdate{.learning_rate = number(settings_.learning_rate),
                             .decay = number(settings_.decay / statistics_.mean_rms),
                             .epsilon = number(settings_.epsilon)},
               {model_.values(), model_.gradients(), start_, statistics_.rms},
               {model_.values(), model_.gradients()});
}

}  // namespace rondo

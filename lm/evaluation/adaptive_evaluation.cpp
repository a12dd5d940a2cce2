// Evaluation of a model that adapts: see adaptive_evaluation.h.
#include "lm/evaluation/adaptive_evaluation.h"

#include <cmath>

#include "tensor/clock.h"

namespace rondo {

void read_one_stream(LanguageModel& model, std::span<const int32_t> ids,
                     const std::optional<DynamicOptions>& dynamic, const GradientStatistics* statistics,
                     const std::function<void(const ChunkResult&)>& use) {
  std::optional<DynamicWeights> weights;
  std::optional<NoGradient> guard;
  if (dynamic) {
    check(statistics != nullptr, "[dynamic evaluation] needs statistics of the training text");
    weights.emplace(model, *statistics, *dynamic);
  } else {
    guard.emplace();
  }
  const int64_t steps = dynamic ? dynamic->length : rows_at_once;
  int64_t symbols = 0;
  read_chunks(
      model,
      [&, stream = Streams::for_evaluation(ids, 1)](Chunk& chunk) mutable {
        return stream.next(steps, chunk);
      },
      [&](const ChunkResult& read) {
        if (!std::isfinite(read.loss.total.value().item()))
          throw Diverged(fmt::format(
              "after {} symbols the probabilities are not finite{}", symbols,
              dynamic ? fmt::format("; try a dynamic.learning_rate below {}", dynamic->learning_rate) : ""));
        use(read);
        symbols += read.chunk.scored;
        if (weights) weights->learn(read.loss.total, read.chunk.scored);
      });
}

Evaluation evaluate_adaptively(LanguageModel& model, std::span<const int32_t> ids, const Adaptation& how,
                               std::optional<int32_t> unknown_id,
                               const std::function<void(int64_t)>& progress) {
  const Clock::time_point start = Clock::now();
  std::optional<NeuralCache> cache;
  if (how.cache)
    cache.emplace(std::vector{std::min(how.cache->window, std::ssize(ids))}, std::vector{how.cache->theta},
                  model.options().hidden.back());
  Evaluation result;
  read_one_stream(model, ids, how.dynamic, how.statistics, [&](const ChunkResult& read) {
    std::vector<double> nats = read.nats();
    if (cache) {
      const std::vector<double> cached = cache->read(read.output.hidden.value(), read.chunk.targets);
      for (size_t i = 0; i < nats.size(); ++i) nats[i] = mixed_nats(nats[i], cached[i], how.cache->lambda);
    }
    result.add(read.chunk.targets, nats, unknown_id);
    progress(result.symbols);
  });
  result.seconds = seconds_since(start);
  return result;
}

}  // namespace rondo

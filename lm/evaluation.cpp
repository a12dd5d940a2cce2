// How well a model predicts ids.
#include "lm/evaluation.h"

#include <chrono>
#include <cmath>
#include <numbers>

#include "data/streams.h"

namespace rondo {

double Evaluation::bits() const { return nats() / std::numbers::ln2; }
double Evaluation::perplexity() const { return std::exp(nats()); }
double Evaluation::perplexity_without_unknowns() const {
  return std::exp((nats_sum - unknown_nats_sum) / static_cast<double>(symbols - unknowns));
}

Evaluation evaluate_ids(LanguageModel& model, std::span<const int32_t> ids, int64_t stream_count,
                        std::optional<int32_t> unknown_id, const std::function<void(int64_t)>& progress) {
  check_input(
      stream_count < std::max<int64_t>(2, std::ssize(ids)),
      "{} evaluation streams are too many for {} symbols; use fewer (--streams, or train.eval_streams)",
      stream_count, ids.size());
  constexpr int64_t rows_at_once = 512;  // enough for a product at full speed, little memory
  const auto start = std::chrono::steady_clock::now();
  const NoGradient guard;
  const bool was_training = model.training();
  model.set_training(false);
  Streams streams = Streams::for_evaluation(ids, stream_count);
  std::vector<State> states = model.initial_states(stream_count);
  Evaluation result;
  Chunk chunk;
  while (streams.next(std::max<int64_t>(1, rows_at_once / stream_count), chunk)) {
    const auto [output, next] = model.forward({tokens(chunk.inputs), chunk.steps, chunk.streams}, states);
    states = next;
    const Tensor losses = model.cross_entropy(output, tokens(chunk.targets)).each;
    for (int64_t i = 0; i < losses.size(); ++i) {
      const double nats = losses.data()[i];
      if (chunk.targets[i] == Chunk::not_scored) continue;
      result.nats_sum += nats;
      ++result.symbols;
      if (chunk.targets[i] != unknown_id) continue;
      result.unknown_nats_sum += nats;
      ++result.unknowns;
    }
    progress(result.symbols);
  }
  model.set_training(was_training);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace rondo

// How well a model predicts ids.
#include "lm/evaluation.h"

#include <chrono>
#include <cmath>
#include <numbers>

#include "data/segments.h"

namespace rondo {

double Evaluation::bits() const { return nats() / std::numbers::ln2; }
double Evaluation::perplexity() const { return std::exp(nats()); }
double Evaluation::perplexity_without_unknowns() const {
  return std::exp((nats_sum - unknown_nats_sum) / static_cast<double>(symbols - unknowns));
}

namespace {

/// The chunks of a text.
std::function<bool(Chunk&)> chunks_of(std::span<const int32_t> ids, const Reading& reading) {
  constexpr int64_t rows_at_once = 512;  // enough for a product at full speed, little memory
  constexpr int64_t lines_at_once = 16;
  if (reading.line_end)
    return [lines = Segments::lines(ids, *reading.line_end, lines_at_once)](Chunk& chunk) mutable {
      return lines.next(chunk);
    };
  check_input(
      reading.streams < std::max<int64_t>(2, std::ssize(ids)),
      "{} evaluation streams are too many for {} symbols; use fewer (--streams, or train.eval_streams)",
      reading.streams, ids.size());
  const int64_t steps = std::max<int64_t>(1, rows_at_once / reading.streams);
  return [streams = Streams::for_evaluation(ids, reading.streams), steps](Chunk& chunk) mutable {
    return streams.next(steps, chunk);
  };
}

}  // namespace

Evaluation evaluate_ids(LanguageModel& model, std::span<const int32_t> ids, const Reading& reading,
                        std::optional<int32_t> unknown_id, const std::function<void(int64_t)>& progress) {
  const auto start = std::chrono::steady_clock::now();
  const NoGradient guard;
  const bool was_training = model.training();
  model.set_training(false);
  const auto next_chunk = chunks_of(ids, reading);
  std::vector<State> states;
  Evaluation result;
  Chunk chunk;
  while (next_chunk(chunk)) {
    if (states.empty() || reading.line_end) states = model.initial_states(chunk.streams);
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

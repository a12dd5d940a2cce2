// How well a model predicts ids.
#include "lm/evaluation.h"

#include <chrono>
#include <cmath>
#include <numbers>

#include "data/segments.h"

namespace rondo {

void Evaluation::add(const std::vector<int32_t>& targets, const std::vector<double>& nats,
                     std::optional<int32_t> unknown_id) {
  for (size_t i = 0; i < targets.size(); ++i) {
    if (targets[i] == Chunk::not_scored) continue;
    nats_sum += nats[i];
    ++symbols;
    if (targets[i] == unknown_id)
      ++unknowns;
    else
      known_nats_sum += nats[i];
  }
}

double Evaluation::bits() const { return nats() / std::numbers::ln2; }
double Evaluation::perplexity() const { return std::exp(nats()); }
double Evaluation::perplexity_without_unknowns() const {
  return std::exp(known_nats_sum / static_cast<double>(symbols - unknowns));
}

void check_streams(const Reading& reading, int64_t symbols) {
  check_input(
      reading.line_end || reading.streams < std::max<int64_t>(2, symbols),
      "{} evaluation streams are too many for {} symbols; use fewer (--streams, or train.eval_streams)",
      reading.streams, symbols);
}

namespace {

/// The chunks of a text.
std::function<bool(Chunk&)> chunks_of(std::span<const int32_t> ids, const Reading& reading) {
  constexpr int64_t lines_at_once = 16;
  if (reading.line_end)
    return [lines = Segments::lines(ids, *reading.line_end, lines_at_once)](Chunk& chunk) mutable {
      return lines.next(chunk);
    };
  check_streams(reading, std::ssize(ids));
  const int64_t steps = std::max<int64_t>(1, rows_at_once / reading.streams);
  return [streams = Streams::for_evaluation(ids, reading.streams), steps](Chunk& chunk) mutable {
    return streams.next(steps, chunk);
  };
}

}  // namespace

std::vector<double> ReadChunk::nats() const {
  const std::vector<real> each = loss.each.to_vector();
  return {each.begin(), each.end()};
}

void read_chunks(LanguageModel& model, const std::function<bool(Chunk&)>& next, BetweenChunks between,
                 const std::function<void(const ReadChunk&)>& use) {
  const EvaluationMode mode(model);
  std::vector<State> states;
  for (Chunk chunk; next(chunk);) {
    if (states.empty() || between == BetweenChunks::state_begins_anew)
      states = model.initial_states(chunk.streams);
    const auto [output, after] = model.forward({tokens(chunk.inputs), chunk.steps, chunk.streams}, states);
    states = detached(after);
    use({chunk, output, model.cross_entropy(output, tokens(chunk.targets))});
  }
}

Evaluation evaluate_ids(LanguageModel& model, std::span<const int32_t> ids, const Reading& reading,
                        std::optional<int32_t> unknown_id, const std::function<void(int64_t)>& progress) {
  const auto start = std::chrono::steady_clock::now();
  const NoGradient guard;
  Evaluation result;
  read_chunks(model, chunks_of(ids, reading),
              reading.line_end ? BetweenChunks::state_begins_anew : BetweenChunks::state_goes_on,
              [&](const ReadChunk& read) {
                result.add(read.chunk.targets, read.nats(), unknown_id);
                progress(result.symbols);
              });
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace rondo

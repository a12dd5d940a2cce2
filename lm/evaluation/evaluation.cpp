// How well a model predicts ids.
#include "lm/evaluation/evaluation.h"

#include <cmath>
#include <numeric>

#include "tensor/recorded_work.h"

namespace rondo {

Scores scores_of(const Evaluation& it, const std::string& read) {
  Scores scores{.metrics = text_metrics(it.nats()), .count = it.symbols, .read = read, .seconds = it.seconds};
  if (it.bytes > 0) scores.details.push_back({"bits_per_byte", it.bits_per_byte()});
  scores.details.push_back({"unknowns", it.unknowns});
  if (it.unknowns > 0 && it.unknowns < it.symbols)
    scores.details.push_back({"perplexity_without_unknowns", it.perplexity_without_unknowns()});
  return scores;
}

void Evaluation::add(const std::vector<int32_t>& targets, const std::vector<double>& nats,
                     std::optional<int32_t> unknown_id) {
  for (size_t i = 0; i < targets.size(); ++i) {
    if (targets[i] == Chunk::ignore_index) continue;
    nats_sum += nats[i];
    ++symbols;
    if (targets[i] == unknown_id)
      ++unknowns;
    else
      known_nats_sum += nats[i];
  }
}

double Evaluation::perplexity_without_unknowns() const {
  return std::exp(known_nats_sum / static_cast<double>(symbols - unknowns));
}

std::string Reading::text() const {
  const char* const state = trained_initial_states ? "the trained initial state" : "a zero state";
  if (line_end) return fmt::format("lines from {}", state);
  if (sequence > 0) return fmt::format("sequences of {} from {}", sequence, state);
  if (streams == 1) return "one stream";
  return fmt::format("{} streams", streams) +
         (warm_up > 0 ? fmt::format(", {} symbols before each", warm_up) : "");
}

int64_t scored_bytes(const Reading& reading, const IdCounts& text) {
  return reading.line_end ? text.bytes : text.bytes - text.first_bytes;
}

void check_streams(const Reading& reading, int64_t symbols, const std::string& where) {
  const int64_t needed = reading.streams + reading.warm_up;
  check_input(!reading.carries_state() || needed < std::max<int64_t>(2, symbols),
              "{}{} evaluation streams{} are too many for {} symbols; use fewer", where, reading.streams,
              reading.warm_up == 0 ? "" : fmt::format(" after {} symbols each", reading.warm_up), symbols);
}

namespace {

/// The chunks of a text.
std::function<bool(Chunk&)> chunks_of(std::span<const int32_t> ids, const Reading& reading) {
  check_streams(reading, std::ssize(ids));
  if (!reading.carries_state()) {
    constexpr int64_t sequences_at_once = 32;
    Sequences sequences = reading.line_end ? Sequences::lines(ids, *reading.line_end, sequences_at_once)
                                           : Sequences::fixed(ids, reading.sequence, sequences_at_once);
    sequences.order_by_length();
    return [sequences, pieces = std::vector<Chunk>(), at = size_t{0}](Chunk& chunk) mutable {
      if (at == pieces.size()) {
        Chunk whole;
        if (!sequences.next(whole)) return false;
        pieces = pieces_without_padding(whole, steps_at_once(sequences_at_once));
        at = 0;
      }
      chunk = std::move(pieces[at++]);
      return true;
    };
  }
  return
      [streams = Streams::for_evaluation(ids, reading.streams, reading.warm_up),
       steps = steps_at_once(reading.streams)](Chunk& chunk) mutable { return streams.next(steps, chunk); };
}

/// Reads chunks on a GPU without the host waiting for them: those of a size that has occurred before are
/// replayed as graphs (tensor/recorded_work.h), unless there are too many sizes, and the losses stay on the
/// GPU until they are collected.
class ChunksOnGpu {
 public:
  /// Collects the losses of up to `most` targets at a time; a chunk has no more.
  ChunksOnGpu(LanguageModel& model, int64_t most, bool replays)
      : model_(model), losses_(Tensor::zeros({most, 1}, model.device())), replays_(replays) {}

  /// Reads a chunk, as read_chunks() does; the first one has the most streams. Collects first if there is no
  /// room.
  void read(const Chunk& chunk, Evaluation& sums, std::optional<int32_t> unknown_id) {
    const int64_t count = std::ssize(chunk.targets), streams = chunk.streams;
    if (std::ssize(targets_) + count > losses_.rows()) collect(sums, unknown_id);
    if (states_.empty())
      states_ = mapped(model_.initial_states(streams), [](const Variable& x) { return clone(x.value()); });
    else if (chunk.from_zero_state)
      copy_states(model_.initial_states(streams), streams_of(states_, 0, streams));
    std::vector<int32_t> places(static_cast<size_t>(count));
    std::iota(places.begin(), places.end(), static_cast<int32_t>(targets_.size()));
    targets_.insert(targets_.end(), chunk.targets.begin(), chunk.targets.end());
    const std::vector<Tokens> staged =
        work_.stage({}, {chunk.inputs, chunk.targets, std::move(places)}, replays_);
    work_.run({chunk.steps, streams}, replays_, [&] {
      const std::vector<State> states = streams_of(states_, 0, streams);
      const auto [output, after] = model_.forward({staged[0], chunk.steps, streams}, states);
      const CrossEntropy loss = model_.cross_entropy(output, staged[1]);
      accumulate_rows(loss.each.reshaped({count, 1}), *staged[2], losses_);
      copy_states(after, states);
    });
  }
  /// Adds the losses so far to `sums`.
  void collect(Evaluation& sums, std::optional<int32_t> unknown_id) {
    const std::vector<real> nats = losses_.slice_rows(0, std::ssize(targets_)).to_vector();
    sums.add(targets_, {nats.begin(), nats.end()}, unknown_id);
    fill(losses_, 0);
    targets_.clear();
  }

 private:
  LanguageModel& model_;
  Tensor losses_;  // in the order of targets_, then zeros
  bool replays_;
  std::vector<int32_t> targets_;  // whose losses have not been collected
  std::vector<State> states_;     // always in one place
  RecordedWork work_;
};

}  // namespace

std::vector<double> numbers_of(const CrossEntropy& loss) {
  const std::vector<real> each = loss.each.to_vector();
  return {each.begin(), each.end()};
}

void read_chunks(LanguageModel& model, const std::function<bool(Chunk&)>& next,
                 const std::function<void(const ChunkResult&)>& use) {
  const EvaluationMode mode(model);
  std::vector<State> states;
  for (Chunk chunk; next(chunk);) {
    const bool begins = states.empty() || chunk.from_zero_state;
    states = begins ? model.initial_states(chunk.streams) : streams_of(states, 0, chunk.streams);
    const auto [output, after] = model.forward({tokens(chunk.inputs), chunk.steps, chunk.streams}, states);
    states = detached(after);
    use({chunk, output, model.cross_entropy(output, tokens(chunk.targets))});
  }
}

Evaluation evaluate_ids(LanguageModel& model, std::span<const int32_t> ids, const Reading& reading,
                        std::optional<int32_t> unknown_id, const ReportDone& progress) {
  const auto start = Clock::now();
  const NoGradient guard;
  Evaluation result;
  const auto next = chunks_of(ids, reading);
  if (model.device() == Device::cuda && model.can_be_recorded()) {
    const EvaluationMode mode(model);
    constexpr int64_t most = 1 << 15;  // losses
    // Pieces of lines have almost as many sizes as there are pieces.
    ChunksOnGpu chunks(model, std::max({rows_at_once, reading.streams, std::min(most, std::ssize(ids))}),
                       !reading.line_end);
    int64_t read = 0;
    for (Chunk chunk; next(chunk); progress(read += chunk.scored)) chunks.read(chunk, result, unknown_id);
    chunks.collect(result, unknown_id);
  } else {
    read_chunks(model, next, [&](const ChunkResult& read) {
      result.add(read.chunk.targets, read.nats(), unknown_id);
      progress(result.symbols);
    });
  }
  result.seconds = seconds_since(start);
  return result;
}

// --- Whole sentences ---

std::vector<Tokens> tokens_of(std::vector<std::vector<int32_t>> indices) {
  std::vector<Tokens> all;
  for (std::vector<int32_t>& it : indices) all.push_back(tokens(std::move(it)));
  return all;
}

void read_sentences(Module& model, const Sentences& sentences,
                    const std::function<void(std::span<const int64_t>, const PaddedSentences&)>& use) {
  if (sentences.size() == 0) return;
  const EvaluationMode no_dropout(model);
  const NoGradient no_history;
  std::vector<BatchOrder::Lengths> lengths;
  for (int64_t i = 0; i < sentences.size(); ++i) lengths.emplace_back(sentences.length(i), 0);
  BatchOrder order({.batch = rows_at_once, .by = BatchBy::symbols}, lengths, 1);
  order.seek(0, 0);
  for (auto batch = order.next(); !batch.empty(); batch = order.next())
    use(batch, padded(sentences.at(batch)));
}

void Choices::add(const Variable& logits, const CrossEntropy& loss, const std::vector<int32_t>& classes) {
  const std::vector<real> numbers = logits.value().to_vector();
  auto row = numbers.begin();
  for (const int32_t right : classes) {
    const auto end = row + logits.value().columns();
    correct += std::max_element(row, end) - row == right;
    unknown += right < 0;
    row = end;
  }
  for (const real it : loss.each.to_vector()) nats += static_cast<double>(it);
  count += std::ssize(classes);
}

Scores Choices::scores(const std::string& unit, double seconds) const {
  const auto all = static_cast<double>(count),
             known = static_cast<double>(std::max<int64_t>(1, count - unknown));
  return {.metrics = {{"accuracy", 100 * static_cast<double>(correct) / all}, {"nats", nats / known}},
          .higher_is_better = true,
          .count = count,
          .unit = unit,
          .read = "one pass",
          .preposition = "",
          .seconds = seconds,
          .details = {{"correct", correct}}};
}

}  // namespace rondo

// How well a model predicts ids: the figures, and the loop over a text, which is shared by evaluations during
// training, `lm eval`, dynamic evaluation and the neural cache. It reads no files and prints nothing. Next:
// lm/evaluation/adaptive_evaluation.h, for models that learn from the text that they are scored on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numbers>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/sentences/pairs.h"
#include "data/sentences/sentence_batches.h"
#include "data/text/source.h"
#include "data/text/streams.h"
#include "data/text/vocabulary.h"
#include "lm/evaluation/scores.h"
#include "nn/models/language_model.h"
#include "tensor/profile.h"

namespace rondo {

/// Sums over scored symbols, in nats, and the figures computed from them.
struct Evaluation {
  double nats_sum = 0;
  int64_t symbols = 0;
  double known_nats_sum = 0;  // the part of nats_sum from symbols of the vocabulary
  int64_t unknowns = 0;
  double seconds = 0;
  int64_t bytes = 0;  // of the text of the scored symbols, with what separates them; 0: not known

  /// Adds the loss of each target; targets that are not scored do not count.
  void add(const std::vector<int32_t>& targets, const std::vector<double>& nats,
           std::optional<int32_t> unknown_id);

  double nats() const { return nats_sum / static_cast<double>(symbols); }
  /// The figure that compares models of different units; needs bytes.
  double bits_per_byte() const { return nats_sum / std::numbers::ln2 / static_cast<double>(bytes); }
  /// Perplexity over the symbols of the vocabulary only.
  double perplexity_without_unknowns() const;
};

/// Nats, bits and perplexity, with the counts behind them; `read` says how the text was read.
Scores scores_of(const Evaluation& it, const std::string& read);

/// How a text is read: in `streams` parallel streams that carry the state, every symbol except the first
/// scored once, each but the first stream after `warm_up` symbols that it reads without scoring them; or, if
/// `line_end` is given, line by line, each from the initial state with the previous line end as context,
/// every symbol scored once; or, if `sequence` is not 0, in sequences of that many symbols, each from the
/// initial state with the previous symbol as context.
struct Reading {
  int64_t streams = 1, warm_up = 0;
  std::optional<int32_t> line_end{};
  int64_t sequence = 0;
  bool trained_initial_states = false;  // of the model

  bool carries_state() const { return !line_end && sequence == 0; }
  /// "one stream", "10 streams", "64 streams, 200 symbols before each", "lines from a zero state", "sequences
  /// of 200 from the trained initial state".
  std::string text() const;
};

/// The bytes of the symbols that this reading scores.
int64_t scored_bytes(const Reading& reading, const IdCounts& text);

/// Throws InputError, after `where`, if there are more streams than symbols to score.
void check_streams(const Reading& reading, int64_t symbols, const std::string& where = "");

/// Dropout is off. `progress` gets the number of symbols done, or given to a GPU to do, from time to time.
/// InputError of check_streams().
Evaluation evaluate_ids(
    LanguageModel& model, std::span<const int32_t> ids, const Reading& reading,
    std::optional<int32_t> unknown_id = {}, const ReportDone& progress = [](int64_t) {});

/// The loss of each row.
std::vector<double> numbers_of(const CrossEntropy& loss);

/// A chunk, and the model's output and loss for it.
struct ChunkResult {
  const Chunk& chunk;
  const LanguageModel::Output& output;
  const CrossEntropy& loss;

  /// -log p of each target.
  std::vector<double> nats() const { return numbers_of(loss); }
};
/// Reads chunks from `next` until it returns false, and passes each to `use` before the next is read, so that
/// `use` may change the weights. The state is carried on without its history, except where a chunk begins
/// from the initial state. Runs in evaluation mode; gradient recording is left as the caller set it.
void read_chunks(LanguageModel& model, const std::function<bool(Chunk&)>& next,
                 const std::function<void(const ChunkResult&)>& use);

// --- Whole sentences ---

/// Several lists of ids, each on the device.
std::vector<Tokens> tokens_of(std::vector<std::vector<int32_t>> indices);

/// Passes batches of held-out data to `use`, the longest sentences first; dropout is off, and nothing is
/// recorded. `progress`, if not empty, gets the number of rows done. Returns the seconds that it took.
template <class Batches, class Use>
double read_batches(Module& model, Batches batches, const ReportDone& progress, Use use) {
  const EvaluationMode no_dropout(model);
  const NoGradient no_history;
  const auto begin = Clock::now();
  batches.seek(0, 0);
  int64_t done = 0;
  for (typename Batches::Staged batch; batches.next(batch);) {
    use(batch);
    done += batch.share.count;
    if (progress) progress(done);
  }
  return seconds_since(begin);
}

/// The same of sentences without anything else: use(which of them they are, the sentences).
void read_sentences(Module& model, const Sentences& sentences,
                    const std::function<void(std::span<const int64_t>, const PaddedSentences&)>& use);

/// How often the most probable class is the right one, and -log p of the right ones. Class -1 is one that the
/// model does not know.
struct Choices {
  int64_t count = 0, correct = 0, unknown = 0;
  double nats = 0;

  /// Adds rows with these logits [B, K] and losses.
  void add(const Variable& logits, const CrossEntropy& loss, const std::vector<int32_t>& classes);
  /// The accuracy in percent, and the mean of -log p of known classes; `unit`: of the rows.
  Scores scores(const std::string& unit, double seconds) const;
};

/// The number of rows of a chunk, where it can be chosen: enough for products at full speed, with little
/// memory.
constexpr int64_t rows_at_once = 512;
inline int64_t steps_at_once(int64_t streams) { return std::max<int64_t>(1, rows_at_once / streams); }

}  // namespace rondo

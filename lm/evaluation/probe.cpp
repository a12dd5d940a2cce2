// Probes of models.
#include "lm/evaluation/probe.h"

#include <algorithm>

#include "data/labelled_batches.h"
#include "data/pair_batches.h"
#include "lm/evaluation/classification_evaluation.h"

namespace rondo {
namespace {

constexpr int64_t sequences_at_once = 32;

/// `count` of the numbers below `all`, at equal distances; all of them if there are no more.
std::vector<int64_t> evenly(int64_t all, int64_t count) {
  std::vector<int64_t> chosen;
  for (int64_t i = 0; i < std::min(all, count); ++i) chosen.push_back(i * all / std::min(all, count));
  return chosen;
}

/// Sums over batches.
struct Probing {
  explicit Probing(Module& model) : probe(model) {}

  void run(int64_t sequences, int64_t steps, const std::function<void(int64_t)>& progress,
           const std::function<Variable()>& loss) {
    result.nats += probe.run(loss);
    result.sequences += sequences;
    result.steps = std::max(result.steps, steps);
    if (progress) progress(result.sequences);
  }
  Probed end() {
    result.nats /= static_cast<double>(result.sequences);
    result.layers = probe.layers();
    return std::move(result);
  }

  RecurrentProbe probe;
  Probed result{};
};

}  // namespace

Probed probe(LanguageModel& model, std::span<const int32_t> ids, const ProbeOptions& options,
             const std::function<void(int64_t)>& progress) {
  const int64_t T = options.steps, all = (std::ssize(ids) - 1) / T;
  check_input(all > 0, "{} symbols are too few for a sequence of {} steps and the symbol after it: use fewer",
              ids.size(), T);
  const std::vector<int64_t> chosen = evenly(all, options.sequences);
  Probing probing(model);
  for (size_t first = 0; first < chosen.size(); first += sequences_at_once) {
    const int64_t B = std::min<int64_t>(sequences_at_once, std::ssize(chosen) - static_cast<int64_t>(first));
    std::vector<int32_t> inputs(static_cast<size_t>(T * B)), targets(static_cast<size_t>(B));
    for (int64_t b = 0; b < B; ++b) {
      const auto sequence = ids.subspan(static_cast<size_t>(chosen[first + static_cast<size_t>(b)] * T));
      for (int64_t t = 0; t < T; ++t)
        inputs[static_cast<size_t>(t * B + b)] = sequence[static_cast<size_t>(t)];
      targets[static_cast<size_t>(b)] = sequence[static_cast<size_t>(T)];
    }
    probing.run(B, T, progress, [&] {
      const auto read = model.forward({tokens(inputs), T, B}, model.initial_states(B));
      return model.cross_entropy(read.output.rows((T - 1) * B, T * B), tokens(targets)).total;
    });
  }
  return probing.end();
}

Probed probe(SentenceClassifier& model, const LabelledSentences& sentences, const ProbeOptions& options,
             const std::function<void(int64_t)>& progress) {
  LabelledSentences some;
  for (const int64_t i : evenly(sentences.size(), options.sequences)) {
    some.sentences.add(sentences.sentences[i]);
    some.labels.push_back(sentences.labels[static_cast<size_t>(i)]);
  }
  LabelledBatches batches({.batch = sequences_at_once}, some, 1);
  batches.seek(0, 0);
  Probing probing(model);
  for (LabelledBatch batch; batches.next(batch);)
    probing.run(batch.sentences.sentences, batch.sentences.steps, progress, [&] {
      const Variable summary = model.summary(input_of(batch.sentences, tokens(batch.sentences.ids)));
      return model.cross_entropy(summary, tokens(batch.labels)).total;
    });
  return probing.end();
}

Probed probe(EncoderDecoder& model, const Pairs& pairs, bool reverse_source, const ProbeOptions& options,
             const std::function<void(int64_t)>& progress) {
  Pairs some;
  for (const int64_t i : evenly(pairs.size(), options.sequences)) {
    some.source.add(pairs.source[i]);
    some.target.add(pairs.target[i]);
  }
  PairBatches batches({.batch = sequences_at_once, .reverse_source = reverse_source}, some, 1);
  batches.seek(0, 0);
  Probing probing(model);
  for (PairBatch batch; batches.next(batch);) {
    const int64_t B = batch.sentences, T = batch.target_steps;
    std::vector<int32_t> last(batch.targets.size(), PairBatch::ignore_index);
    for (int64_t b = 0; b < B; ++b) {
      const auto at = static_cast<size_t>((batch.target_lengths[static_cast<size_t>(b)] - 1) * B + b);
      last[at] = batch.targets[at];
    }
    probing.run(B, std::max(T, batch.source_steps), progress, [&] {
      const auto source = model.encode({tokens(batch.source), batch.source_steps, B, batch.source_lengths});
      const auto output = model.decode({tokens(batch.inputs), T, B, batch.target_lengths}, source);
      return model.cross_entropy(output.readout, tokens(last)).total;
    });
  }
  return probing.end();
}

}  // namespace rondo

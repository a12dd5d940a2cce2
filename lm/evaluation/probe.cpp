// Probes of models.
#include "lm/evaluation/probe.h"

#include <algorithm>

#include "data/labelled_batches.h"
#include "data/pair_batches.h"
#include "data/question_batches.h"
#include "lm/evaluation/classification_evaluation.h"
#include "lm/evaluation/skip_thought_evaluation.h"
#include "lm/evaluation/speech_evaluation.h"

namespace rondo {
namespace {

constexpr int64_t sequences_at_once = 32;

/// `count` of the numbers below `all`, at equal distances; all of them if there are no more.
std::vector<int64_t> evenly(int64_t all, int64_t count) {
  std::vector<int64_t> chosen;
  for (int64_t i = 0; i < std::min(all, count); ++i) chosen.push_back(i * all / std::min(all, count));
  return chosen;
}

/// Of the targets of B sentences, step by step, the last one of each; the others are not scored.
Tokens last_alone(const std::vector<int32_t>& targets, const std::vector<int64_t>& lengths) {
  std::vector<int32_t> last(targets.size(), -1);
  for (size_t b = 0; b < lengths.size(); ++b) {
    const size_t at = static_cast<size_t>(lengths[b] - 1) * lengths.size() + b;
    last[at] = targets[at];
  }
  return tokens(std::move(last));
}

/// Sums over batches.
struct Probing {
  Probing(Module& model, const std::string& loss) : probe(model), result{.loss = loss} {}

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
  Probed result;
};

}  // namespace

Probed probe(LanguageModel& model, std::span<const int32_t> ids, const ProbeOptions& options,
             const std::function<void(int64_t)>& progress) {
  const int64_t T = options.steps, all = (std::ssize(ids) - 1) / T;
  check_input(all > 0, "{} symbols are too few for a sequence of {} steps and the symbol after it: use fewer",
              ids.size(), T);
  const std::vector<int64_t> chosen = evenly(all, options.sequences);
  Probing probing(model, "the loss of the last step alone");
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
  Probing probing(model, "the loss of the label");
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
  PairBatches batches({.order = {.batch = sequences_at_once}, .reverse_source = reverse_source}, some, 1);
  batches.seek(0, 0);
  Probing probing(model, "the loss of the last step alone");
  for (PairBatch batch; batches.next(batch);) {
    const int64_t B = batch.sentences, T = batch.target_steps;
    const Tokens last = last_alone(batch.targets, batch.target_lengths);
    probing.run(B, std::max(T, batch.source_steps), progress, [&] {
      const auto source = model.encode({tokens(batch.source), batch.source_steps, B, batch.source_lengths});
      const auto output = model.decode({tokens(batch.inputs), T, B, batch.target_lengths}, source);
      return model.cross_entropy(output.readout, last).total;
    });
  }
  return probing.end();
}

Probed probe(AttentiveReader& model, const Questions& questions, const ProbeOptions& options,
             const std::function<void(int64_t)>& progress) {
  std::vector<int64_t> known;
  for (int64_t i = 0; i < questions.size(); ++i)
    if (questions.answers[static_cast<size_t>(i)] >= 0) known.push_back(i);
  check_input(!known.empty(), "no question has an answer that the model knows");
  Questions some{{}, {}, {}, questions.markers, questions.entity_of};
  for (const int64_t k : evenly(std::ssize(known), options.sequences)) {
    const int64_t i = known[static_cast<size_t>(k)];
    some.documents.add(questions.documents[i]);
    some.questions.add(questions.questions[i]);
    some.answers.push_back(questions.answers[static_cast<size_t>(i)]);
  }
  QuestionBatches batches({.batch = sequences_at_once}, some, 1);
  batches.seek(0, 0);
  Probing probing(model, "the loss of the answer");
  for (QuestionBatch batch; batches.next(batch);) {
    const PaddedSentences &documents = batch.documents, &asked = batch.questions;
    const int64_t B = documents.sentences;
    probing.run(B, std::max(documents.steps, asked.steps), progress, [&] {
      const auto output = model({tokens(documents.ids), documents.steps, B, documents.lengths},
                                {tokens(asked.ids), asked.steps, B, asked.lengths});
      return model.cross_entropy(output.joint, tokens(batch.answers)).total;
    });
  }
  return probing.end();
}

Probed probe(SkipThought& model, const Triples& triples, const ProbeOptions& options,
             const std::function<void(int64_t)>& progress) {
  Triples some;
  for (const int64_t i : evenly(triples.size(), options.sequences)) {
    const int64_t middle = triples.middles[static_cast<size_t>(i)];
    some.middles.push_back(some.sentences.size() + 1);
    for (const int64_t sentence : {middle - 1, middle, middle + 1})
      some.sentences.add(triples.sentences[sentence]);
  }
  TripleBatches batches({.batch = sequences_at_once}, some, 1);
  batches.seek(0, 0);
  Probing probing(model, "the losses of the last words of both neighbours");
  for (TripleBatch batch; batches.next(batch);) {
    const int64_t steps = std::max({batch.middle.steps, batch.previous.steps, batch.next.steps});
    probing.run(batch.middle.sentences, steps, progress, [&] {
      Variable nats;
      for (const auto& part : model.parts()) {
        const Variable vectors = part->encode(sentences_of(batch.middle, tokens(batch.middle.ids)));
        const auto add = [&](RecurrentStack& decoder, const ShiftedSentences& written) {
          const Variable states =
              part->decode(decoder, sentences_of(written, tokens(written.inputs)), vectors);
          const Variable end =
              part->cross_entropy(states, last_alone(written.targets, written.lengths)).total;
          nats = nats.defined() ? nats + end : end;
        };
        add(part->previous, batch.previous);
        add(part->next, batch.next);
      }
      return nats;
    });
  }
  return probing.end();
}

Probed probe(CtcModel& model, const Utterances& utterances, const FrameOptions& frames,
             const ProbeOptions& options, const std::function<void(int64_t)>& progress) {
  std::vector<size_t> possible;
  for (size_t i = 0; i < utterances.frames.size(); ++i)
    if (fits_into(utterances.labels[i], steps_of(utterances.frames[i].size(), frames))) possible.push_back(i);
  check_input(!possible.empty(), "all utterances are too short for their transcripts");
  Utterances some;
  for (const int64_t k : evenly(std::ssize(possible), options.sequences)) {
    const size_t i = possible[static_cast<size_t>(k)];
    some.frames.push_back(utterances.frames[i]);
    some.labels.push_back(utterances.labels[i]);
    some.transcripts.push_back(utterances.transcripts[i]);
  }
  UtteranceBatches batches({.batch = sequences_at_once}, frames, some, 1);
  batches.seek(0, 0);
  Probing probing(model, "the loss of the transcript");
  for (UtteranceBatch batch; batches.next(batch);)
    probing.run(batch.utterances, batch.steps, progress, [&] {
      const Variable scores = model.scores(frames_of(batch, model.device()), batch.lengths);
      return sum(ctc_loss(scores, CtcTargets(batch.labels, batch.lengths)));
    });
  return probing.end();
}

}  // namespace rondo

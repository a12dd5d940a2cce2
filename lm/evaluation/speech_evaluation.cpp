// What a recogniser transcribes, and how well.
#include "lm/evaluation/speech_evaluation.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "autograd/functions.h"
#include "lm/evaluation/evaluation.h"
#include "tensor/clock.h"

namespace rondo {

Tensor frames_of(const UtteranceBatch& batch, Device device) {
  const std::vector<real> numbers(batch.frames.begin(), batch.frames.end());
  return Tensor::from(numbers, {batch.steps, batch.utterances, batch.width}, device);
}

FrameLogProbabilities of_decoder(const Tensor& log_p) {
  return {log_p.data(), log_p.rows(), log_p.columns(), log_p.row_stride()};
}

namespace {

/// Calls use(i, log_p, nats) for each utterance i, in the order of the batches, with what Recognised has of
/// it.
template <class Use>
void recognise_each(CtcModel& model, const Utterances& utterances, const FrameOptions& frames,
                    const std::function<void(std::int64_t)>& progress, Use use) {
  const EvaluationMode no_dropout(model);
  const NoGradient no_history;
  UtteranceBatches batches({.batch = rows_at_once, .by = BatchBy::symbols}, frames, utterances, 1);
  batches.seek(0, 0);
  std::int64_t done = 0;
  for (UtteranceBatch batch; batches.next(batch);) {
    const Variable scores = model.scores(frames_of(batch, model.device()), batch.lengths);
    const std::vector<real> nats =
        ctc_loss(scores, CtcTargets(batch.labels, batch.lengths)).value().to_vector();
    const Tensor log_p = transpose_first_two(log_softmax(scores)).value().to(Device::cpu);
    for (std::size_t b = 0; b < batch.indices.size(); ++b)
      use(static_cast<std::size_t>(batch.indices[b]),
          log_p[static_cast<std::int64_t>(b)].slice(0, batch.lengths[b]),
          fits_into(batch.labels[b], batch.lengths[b]) ? static_cast<double>(nats[b])
                                                       : std::numeric_limits<double>::infinity());
    done += batch.utterances;
    if (progress) progress(done);
  }
}

SpeechScores scores_of(const std::vector<std::string>& transcripts, const std::vector<double>& nats,
                       const Utterances& utterances) {
  SpeechScores scores;
  scores.utterances = utterances.size();
  for (std::size_t i = 0; i < transcripts.size(); ++i) {
    scores.characters += character_edits(utterances.transcripts[i], transcripts[i]);
    scores.words += word_edits(utterances.transcripts[i], transcripts[i]);
    if (nats[i] == std::numeric_limits<double>::infinity()) {
      ++scores.impossible;
    } else {
      scores.nats_sum += nats[i];
      scores.scored += std::ssize(utterances.labels[i]);
    }
  }
  return scores;
}

}  // namespace

Recognised recognise(CtcModel& model, const Utterances& utterances, const FrameOptions& frames,
                     const std::function<void(std::int64_t)>& progress) {
  const auto count = static_cast<std::size_t>(utterances.size());
  Recognised result{std::vector<Tensor>(count), std::vector<double>(count)};
  recognise_each(model, utterances, frames, progress, [&](std::size_t i, Tensor log_p, double nats) {
    result.log_p[i] = std::move(log_p);
    result.nats[i] = nats;
  });
  return result;
}

Recognised recognise(CtcModel& model, const std::vector<Frames>& recordings, const FrameOptions& frames) {
  Utterances utterances{recordings, std::vector<std::vector<std::int32_t>>(recordings.size()), {}};
  return recordings.empty() ? Recognised() : recognise(model, utterances, frames);
}

SpeechScores scores_of(const Recognised& recognised, const Utterances& utterances,
                       const Vocabulary& vocabulary, const SpeechDecoder& decode) {
  const auto begin = Clock::now();
  std::vector<std::string> transcripts;
  for (const Tensor& log_p : recognised.log_p)
    transcripts.push_back(vocabulary.decode(decode(of_decoder(log_p)).labels));
  SpeechScores scores = scores_of(transcripts, recognised.nats, utterances);
  scores.seconds = seconds_since(begin);
  return scores;
}

SpeechScores evaluate_recogniser(CtcModel& model, const Utterances& utterances, const FrameOptions& frames,
                                 const Vocabulary& vocabulary, const SpeechDecoder& decode,
                                 const std::function<void(std::int64_t)>& progress) {
  const auto begin = Clock::now();
  const auto count = static_cast<std::size_t>(utterances.size());
  std::vector<std::string> transcripts(count);
  std::vector<double> nats(count);
  recognise_each(model, utterances, frames, progress, [&](std::size_t i, const Tensor& log_p, double of_it) {
    transcripts[i] = vocabulary.decode(decode(of_decoder(log_p)).labels);
    nats[i] = of_it;
  });
  SpeechScores scores = scores_of(transcripts, nats, utterances);
  scores.seconds = seconds_since(begin);
  return scores;
}

std::vector<SpeechTrial> tune(SpeechDecoder& decode, const Recognised& recognised,
                              const Utterances& utterances, const Vocabulary& vocabulary,
                              const std::function<void(const SpeechTrial&)>& tried) {
  std::vector<SpeechTrial> trials;
  for (const double weight : {0.1, 0.25, 0.5, 1.0, 2.0})
    for (const double bonus : {0.0, 1.0, 2.0, 4.0}) {
      decode.weigh(weight, bonus);
      trials.push_back({weight, bonus, scores_of(recognised, utterances, vocabulary, decode)});
      if (tried) tried(trials.back());
    }
  const SpeechTrial& best = best_of(trials);
  decode.weigh(best.ngram_weight, best.insertion_bonus);
  return trials;
}

const SpeechTrial& best_of(const std::vector<SpeechTrial>& trials) {
  const auto errors = [](const SpeechTrial& it) {
    return std::pair(it.scores.words.edits(), it.scores.characters.edits());
  };
  return *std::min_element(trials.begin(), trials.end(),
                           [&](const SpeechTrial& a, const SpeechTrial& b) { return errors(a) < errors(b); });
}

}  // namespace rondo

// What a recogniser transcribes, and how well: the error rates of characters and words, and nats. Next:
// lm/tasks/speech.h.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "data/utterance_batches.h"
#include "lm/decoding/speech_decoder.h"
#include "lm/evaluation/metrics.h"
#include "nn/models/ctc_model.h"

namespace rondo {

/// The frames of a batch on a device, [T, B, F].
Tensor frames_of(const UtteranceBatch& batch, Device device);

/// What a recogniser says of each utterance: the log probabilities of the symbols, [T, V] on the host, of
/// which any decoder makes a transcript.
struct Recognised {
  std::vector<Tensor> log_p;
  std::vector<double> nats;  // -ln p(transcript | frames); infinite if there are too few steps for it
};
/// `progress` gets the number of utterances done. Dropout is off.
Recognised recognise(CtcModel& model, const Utterances& utterances, const FrameOptions& frames,
                     const std::function<void(std::int64_t)>& progress = {});
/// The same of recordings without a transcript (read_frames of data/utterances.h).
Recognised recognise(CtcModel& model, const std::vector<Frames>& recordings, const FrameOptions& frames);

/// What SpeechDecoder reads.
FrameLogProbabilities of_decoder(const Tensor& log_p);

struct SpeechScores {
  std::int64_t utterances = 0;
  EditCounts characters, words;
  double nats_sum = 0;
  std::int64_t scored = 0;      // characters that nats_sum counts
  std::int64_t impossible = 0;  // utterances whose loss is infinite
  double seconds = 0;

  /// In percent.
  double cer() const { return 100 * characters.rate(); }
  double wer() const { return 100 * words.rate(); }
  /// For each character of the transcripts, without impossible ones.
  double nats() const { return nats_sum / static_cast<double>(scored); }
};
SpeechScores scores_of(const Recognised& recognised, const Utterances& utterances,
                       const Vocabulary& vocabulary, const SpeechDecoder& decode);

/// Both of them, batch by batch.
SpeechScores evaluate_recogniser(CtcModel& model, const Utterances& utterances, const FrameOptions& frames,
                                 const Vocabulary& vocabulary, const SpeechDecoder& decode,
                                 const std::function<void(std::int64_t)>& progress = {});

/// A search on validation utterances for the weight and the bonus of an n-gram model with which there are
/// fewest errors in words, and in characters.
struct SpeechTrial {
  double ngram_weight, insertion_bonus;
  SpeechScores scores;
};
std::vector<SpeechTrial> tune(SpeechDecoder& decode, const Recognised& recognised,
                              const Utterances& utterances, const Vocabulary& vocabulary,
                              const std::function<void(const SpeechTrial&)>& tried = {});
/// The one with the fewest errors; of equal ones the first.
const SpeechTrial& best_of(const std::vector<SpeechTrial>& trials);

}  // namespace rondo

// Speech recognition as a task.
#include "lm/tasks/speech.h"

#include "autograd/operators/arithmetic.h"

namespace rondo {

Keys keys_of(SpeechTaskOptions& options) { return batch_keys(options.batches, "utterances; or their steps"); }

SpeechRecognition::SpeechRecognition(CtcModel& model, const SpeechTaskOptions& options,
                                     const FrameOptions& frames, const Vocabulary& vocabulary,
                                     const Utterances& train, const Utterances& valid, uint64_t seed)
    : SentenceTask(UtteranceBatches(options.batches, frames, train, seed)),
      model_(model),
      frames_(frames),
      vocabulary_(vocabulary),
      decode_({}, vocabulary),
      valid_(valid) {
  for (const auto& labels : train.labels) characters_ += std::ssize(labels);
}

bool SpeechRecognition::next_batch(Batch& batch) {
  if (!batches_.next(batch_)) return false;
  for (const auto& labels : batch_.labels) batch.scored += std::ssize(labels);
  return true;
}

Loss SpeechRecognition::loss(int64_t, const std::vector<Tokens>&, RandomContext random) {
  const int64_t B = batch_.utterances;
  random.slice = {B, 0, B};
  model_.begin_update(random);
  const Variable scores = model_.scores(frames_of(batch_, model_.device()), batch_.lengths);
  const Variable nats = ctc_loss(scores, CtcTargets(batch_.labels, batch_.lengths));
  return {sum(nats) / static_cast<real>(B), {nats.value()}};
}

Figure SpeechRecognition::evaluate(const std::function<void(int64_t)>& progress) {
  return figure_of(evaluate_recogniser(model_, valid_, frames_, vocabulary_, decode_, progress),
                   decode_.text());
}

Figure figure_of(const SpeechScores& scores, const std::string& read) {
  return {.name = "cer",
          .value = scores.cer(),
          .count = scores.characters.reference,
          .counted = "characters",
          .read = read,
          .preposition = "by",
          .seconds = scores.seconds,
          .beside = {{"wer", scores.wer()}, {"nats", scores.nats()}}};
}

int64_t leave_out_impossible(Utterances& utterances, const FrameOptions& frames) {
  Utterances kept;
  for (size_t i = 0; i < utterances.frames.size(); ++i) {
    if (!fits_into(utterances.labels[i], steps_of(utterances.frames[i].size(), frames))) continue;
    kept.frames.push_back(std::move(utterances.frames[i]));
    kept.labels.push_back(std::move(utterances.labels[i]));
    kept.transcripts.push_back(std::move(utterances.transcripts[i]));
  }
  const int64_t left_out = utterances.size() - kept.size();
  utterances = std::move(kept);
  return left_out;
}

}  // namespace rondo

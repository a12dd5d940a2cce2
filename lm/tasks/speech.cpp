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

void SpeechRecognition::stage(Batch& batch) const { batch.scored = staged_.scored; }

Loss SpeechRecognition::loss(int64_t, const std::vector<Tokens>&, RandomContext random) {
  begin_update(random);
  const Variable scores = model_.scores(frames_of(staged_, model_.device()), staged_.lengths);
  const Variable nats = ctc_loss(scores, CtcTargets(staged_.labels, staged_.lengths));
  return {sum(nats) / static_cast<real>(staged_.share.whole), {nats.value()}};
}

std::string SpeechRecognition::remedy_for_memory() const {
  return fmt::format(
      "make train.batch, model.hidden or the longest utterances smaller, or data.stack larger; the largest "
      "batch has {} utterances of {} steps",
      staged_.utterances, staged_.steps);
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

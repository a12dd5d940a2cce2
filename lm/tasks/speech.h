// Speech recognition as a task: batches of utterances, and the CTC loss of their transcripts. Next:
// data/utterance_batches.h, nn/models/ctc_model.h, lm/evaluation/speech_evaluation.h.
#pragma once

#include "lm/evaluation/speech_evaluation.h"
#include "lm/tasks/sentence_task.h"

namespace rondo {

struct SpeechTaskOptions {
  SentenceBatchOptions batches{};
};
/// `batch`, `batch_by`.
Keys keys_of(SpeechTaskOptions& options);

class SpeechRecognition : public SentenceTask<UtteranceBatches, UtteranceBatch> {
 public:
  /// The model, the utterances and the vocabulary must outlive it. Every training utterance fits its
  /// transcript. The seed determines the order of the batches. InputErrors of UtteranceBatches.
  SpeechRecognition(CtcModel& model, const SpeechTaskOptions& options, const FrameOptions& frames,
                    const Vocabulary& vocabulary, const Utterances& train, const Utterances& valid,
                    uint64_t seed = 1);

  Module& model() override { return model_; }
  /// The mean over the batch's utterances is minimised.
  Loss loss(int64_t part, const std::vector<Tokens>& indices, RandomContext random) override;
  std::string remedy_for_memory() const override;
  int64_t scored_per_epoch() const override { return characters_; }
  std::string scored_items() const override { return "characters"; }
  /// The character error rate of greedy decoding on the validation utterances; word errors and nats beside.
  /// `progress` gets the number of utterances done.
  Figure evaluate(const std::function<void(int64_t)>& progress = {}) override;

 private:
  void stage(Batch& batch) const override;

  CtcModel& model_;
  const FrameOptions frames_;
  const Vocabulary& vocabulary_;
  SpeechDecoder decode_;  // the best path
  const Utterances& valid_;
  int64_t characters_ = 0;  // of the training transcripts
};

/// The character error rate, which decides, word errors and nats beside it. `read`: the decoder's text().
Figure figure_of(const SpeechScores& scores, const std::string& read);

/// Takes out the utterances that are too short for their transcripts, which have no loss; returns how many.
int64_t leave_out_impossible(Utterances& utterances, const FrameOptions& frames);

}  // namespace rondo

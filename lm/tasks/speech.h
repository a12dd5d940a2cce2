// Speech recognition as a task: recordings and their transcripts, the alphabet, the recogniser, and the CTC
// loss of the transcripts. Next: data/utterance_batches.h, nn/models/ctc_model.h,
// lm/evaluation/speech_evaluation.h.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "data/utterances.h"
#include "lm/evaluation/speech_evaluation.h"
#include "lm/tasks/sentence_task.h"
#include "lm/tasks/task.h"
#include "nn/models/ctc_model.h"

namespace rondo {

struct SpeechTaskOptions {
  SentenceBatchOptions batches{};
};
/// `batch`, `batch_by`.
Keys keys_of(SpeechTaskOptions& options);

class SpeechRecognition : public SentenceObjective<UtteranceBatches, UtteranceBatch> {
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
  /// The character error rate of greedy decoding on the validation utterances; then word errors and nats.
  /// `progress` gets the number of utterances done.
  Scores evaluate(const std::function<void(int64_t)>& progress = {}) override;

 private:
  void stage(Batch& batch) const override;

  CtcModel& model_;
  const FrameOptions frames_;
  const Vocabulary& vocabulary_;
  SpeechDecoder decode_;  // the best path
  const Utterances& valid_;
  int64_t characters_ = 0;  // of the training transcripts
};

/// The character error rate, which decides, word errors and nats. `read`: the decoder's text().
Scores scores_of(const SpeechScores& scores, const std::string& read);

/// Takes out the utterances that are too short for their transcripts, which have no loss; returns how many.
int64_t leave_out_impossible(Utterances& utterances, const FrameOptions& frames);

struct SpeechSettings {
  SpeechOptions corpus{};  // of section [data], as the next one
  FrameOptions frames{};
  CtcModelOptions model{};
  SpeechTaskOptions train{};
  SpeechDecodingOptions decoding{};  // of `lm transcribe`, `lm eval` and final figures
  // Not keys: transcripts are characters, and all that occur are kept.
  Tokenization tokenization{.unit = Unit::characters};
  VocabularyLimits limits{};
};

class SpeechTask : public TaskWith<SpeechTask, SpeechSettings, CtcModel> {
 public:
  Sections sections() override;
  void check(const std::string& where) const override;
  const std::string& cell() const override { return settings.model.cell; }
  const Tokenization& tokenization() const override { return settings.tokenization; }
  std::int64_t largest_vocabulary() const override { return settings.limits.max_size; }
  std::string belongs_to_data() const override {
    return "its alphabet and the scale of its frames belong to its recordings";
  }
  bool predicts_text() const override { return false; }
  std::string selection_metric() const override { return "cer"; }
  std::string model_text() const override;
  Usage usage() const override { return {"transcribe", "to transcribe with it", "FILE.wav"}; }

  void open(const DataSource& source) override;
  std::vector<FileDigest> files() const override { return corpus_.files; }
  std::vector<NamedFile> named_files() override { return {{"ngram", &settings.decoding.ngram}}; }
  void make_vocabularies() override;
  std::vector<std::string> vocabulary_names() const override;
  VocabularyFiles vocabularies() const override;
  void set_vocabularies(const VocabularyFiles& files, const std::string& folder) override;
  void prepare() override;
  std::vector<std::string> notes() const override;
  void assume(const std::vector<std::int64_t>& sizes) override;
  std::string size_text() const override;
  std::int64_t validation_size() const override { return encoded_.at("valid").size(); }
  std::vector<std::string> measured_splits() const override;

  std::vector<std::int64_t> sizes() const override { return {vocabulary_->size()}; }
  std::unique_ptr<Module> make_model(const std::vector<std::int64_t>& sizes, std::uint64_t seed,
                                     Device device) const override;
  std::unique_ptr<Objective> make_objective(Module& model, std::uint64_t seed) override;
  Scores measure(Module& model, const std::string& split, const ProgressOf& progress_of) override;
  /// A line is the path of a recording; the answer is its transcript.
  std::vector<LineAnswer> answer(Module& model, const std::vector<InputLine>& lines) override;
  Probed probe(Module& model, const std::string& split, const ProbeOptions& options,
               const std::function<void(std::int64_t)>& progress) override;

  const Vocabulary& vocabulary() const override { return *vocabulary_; }
  /// Mean and variance of the training frames, where frames are normalized by the corpus; else null.
  const FrameStatistics* statistics() const { return statistics_ ? &*statistics_ : nullptr; }
  /// The utterances of a split, which are read once; of the training text those that the loss can learn.
  const Utterances& encoded(const std::string& split, const ProgressOf& progress_of = show_nothing);
  /// Searches the weights of the n-gram model on the validation text, and sets them.
  std::vector<SpeechTrial> tune(Module& model, const ProgressOf& progress_of,
                                const std::function<void(const SpeechTrial&)>& tried);

 private:
  SpeechCorpus corpus_{};
  std::optional<Vocabulary> vocabulary_;
  std::optional<FrameStatistics> statistics_;
  std::map<std::string, Utterances> encoded_;
  std::int64_t left_out_ = 0;
};

}  // namespace rondo

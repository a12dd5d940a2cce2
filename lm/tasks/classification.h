// Classification of sentences as a task: labelled sentences, their vocabulary and classes, the classifier,
// and the loss of each label. Next: data/labelled_batches.h, nn/models/sentence_classifier.h,
// lm/evaluation/classification_evaluation.h.
#pragma once

#include <optional>

#include "data/labelled_sentences.h"
#include "lm/evaluation/classification_evaluation.h"
#include "lm/tasks/sentence_task.h"
#include "nn/models/sentence_classifier.h"

namespace rondo {

struct ClassificationOptions {
  SentenceBatchOptions batches{};
};
/// The keys of SentenceBatchOptions.
Keys keys_of(ClassificationOptions& options);

class Classification : public SentenceObjective<LabelledBatches, LabelledBatch> {
 public:
  /// The model and the sentences must outlive it. The seed determines the order of the batches. InputErrors
  /// of LabelledBatches.
  Classification(SentenceClassifier& model, const ClassificationOptions& options,
                 const LabelledSentences& train, const LabelledSentences& valid, uint64_t seed = 1);

  Module& model() override { return model_; }
  /// The mean over the batch's sentences is minimised.
  Loss loss(int64_t part, const std::vector<Tokens>& indices, RandomContext random) override;
  std::string remedy_for_memory() const override;
  int64_t scored_per_epoch() const override { return batches_.sentences(); }
  std::string scored_items() const override { return "sentences"; }
  /// The accuracy on the validation text, and nats. `progress` gets the number of sentences done.
  Scores evaluate(const std::function<void(int64_t)>& progress = {}) override;

 private:
  void stage(Batch& batch) const override;

  SentenceClassifier& model_;
  const LabelledSentences& valid_;
};

struct ClassificationSettings {
  LabelledFiles files{};  // of section [data], as the next two
  Tokenization tokenization{};
  VocabularyLimits limits{};
  SentenceClassifierOptions model{};
  ClassificationOptions train{};
};

class ClassificationTask : public SentenceTask<ClassificationTask, ClassificationSettings, SentenceClassifier,
                                               LabelledTexts, LabelledSentences> {
 public:
  Sections sections() override;
  void check(const std::string& where) const override;
  bool predicts_text() const override { return false; }
  std::string selection_metric() const override { return "accuracy"; }
  bool higher_is_better() const override { return true; }
  std::string model_text() const override;
  std::string sizes_text(const std::vector<std::int64_t>& sizes) const override {
    return fmt::format("{} {}, {} classes", sizes.at(0), name_of(settings.tokenization.unit), sizes.at(1));
  }
  Usage usage() const override { return {"classify", "to classify with it", "< sentences"}; }

  void open(const DataSource& source) override;
  void open_other(const std::string& path, const DataSource& source) override;
  void make_vocabularies() override;
  std::vector<std::string> vocabulary_names() const override;
  VocabularyFiles vocabularies() const override;
  void set_vocabularies(const VocabularyFiles& files, const std::string& folder) override;
  std::vector<UnknownShare> unknown_shares() const override;
  void assume(const std::vector<std::int64_t>& sizes) override;
  std::string size_text() const override;

  std::vector<std::int64_t> sizes() const override { return {vocabulary_->size(), labels_->size()}; }
  std::vector<std::int64_t> assumed_sizes(std::int64_t vocabulary) const override { return {vocabulary, 2}; }
  std::unique_ptr<Module> make_model(const std::vector<std::int64_t>& sizes, std::uint64_t seed,
                                     Device device) const override;
  std::unique_ptr<Objective> make_objective(Module& model, std::uint64_t seed) override;
  Scores measure(Module& model, const std::string& split, const ProgressOf& progress_of) override;
  /// The most probable class of each sentence.
  std::vector<LineAnswer> answer(Module& model, const std::vector<InputLine>& lines) override;

 private:
  bool has_test() const override { return texts_.test.has_value(); }
  LabelledSentences encode(Split split) const override;

  std::optional<Labels> labels_;
};

}  // namespace rondo

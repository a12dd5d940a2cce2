// Question answering as a task: cloze questions, their vocabulary and entities, the reader, and the loss of
// each answer. Next: data/question_batches.h, nn/models/attentive_reader.h,
// lm/evaluation/answer_evaluation.h.
#pragma once

#include "lm/evaluation/answer_evaluation.h"
#include "lm/tasks/sentence_task.h"
#include "nn/models/attentive_reader.h"

namespace rondo {

struct QuestionAnsweringOptions {
  QuestionBatchOptions batches{};
};
/// The keys of QuestionBatchOptions.
Keys keys_of(QuestionAnsweringOptions& options);

class QuestionAnswering : public SentenceObjective<QuestionBatches, QuestionBatch> {
 public:
  /// The model and the questions must outlive it. The seed determines the order of the batches. InputErrors
  /// of QuestionBatches.
  QuestionAnswering(AttentiveReader& model, const QuestionAnsweringOptions& options, const Questions& train,
                    const Questions& valid, uint64_t seed = 1);

  Module& model() override { return model_; }
  /// The mean over the batch's questions is minimised.
  Loss loss(int64_t part, const std::vector<Tokens>& indices, RandomContext random) override;
  std::string remedy_for_memory() const override;
  int64_t scored_per_epoch() const override { return batches_.questions(); }
  std::string scored_items() const override { return "questions"; }
  /// The accuracy on the validation questions, and nats. `progress` gets the number of questions done.
  Scores evaluate(const std::function<void(int64_t)>& progress = {}) override;

 private:
  void stage(Batch& batch) const override;

  AttentiveReader& model_;
  const Questions& valid_;
};

struct QuestionAnsweringSettings {
  QuestionOptions questions{};  // of section [data], as the next one
  VocabularyLimits limits{};
  Tokenization tokenization{};  // words: not a key
  AttentiveReaderOptions model{};
  QuestionAnsweringOptions train{};
};

class QuestionAnsweringTask : public SentenceTask<QuestionAnsweringTask, QuestionAnsweringSettings,
                                                  AttentiveReader, QuestionTexts, Questions> {
 public:
  Sections sections() override;
  void check(const std::string& where) const override;
  std::string belongs_to_data() const override { return "its entities belong to its documents"; }
  bool predicts_text() const override { return false; }
  std::string selection_metric() const override { return "accuracy"; }
  bool higher_is_better() const override { return true; }
  std::string model_text() const override;
  std::string sizes_text(const std::vector<std::int64_t>& sizes) const override {
    return fmt::format("{} words, {} of them entities", sizes.at(0), sizes.at(1));
  }
  Usage usage() const override;

  void open(const DataSource& source) override;
  void make_vocabularies() override;
  void assume(const std::vector<std::int64_t>& sizes) override;
  /// With what two baselines that read nothing answer.
  std::vector<std::string> notes() const override;
  std::string size_text() const override;

  std::vector<std::int64_t> sizes() const override;
  std::vector<std::int64_t> assumed_sizes(std::int64_t vocabulary) const override {
    return {vocabulary, settings.questions.entities};
  }
  std::unique_ptr<Module> make_model(const std::vector<std::int64_t>& sizes, std::uint64_t seed,
                                     Device device) const override;
  std::unique_ptr<Objective> make_objective(Module& model, std::uint64_t seed) override;
  Scores measure(Module& model, const std::string& split, const ProgressOf& progress_of) override;
  /// A line is a document, a tab and a question with `@placeholder`; the answer is the name of an entity of the
  /// document, or its marker where the document has markers.
  std::vector<LineAnswer> answer(Module& model, const std::vector<InputLine>& lines) override;

 private:
  bool has_test() const override { return texts_.test.size() > 0; }
  Questions encode(Split split) const override;
};

}  // namespace rondo

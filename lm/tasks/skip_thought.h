// Skip-thought vectors as a task: triples of sentences, their vocabulary, the model, and the loss of each
// word of the sentences before and after the middle one. Next: data/sentence_triples.h,
// nn/models/skip_thought.h, lm/evaluation/skip_thought_evaluation.h.
#pragma once

#include <string>
#include <vector>

#include "lm/evaluation/skip_thought_evaluation.h"
#include "lm/tasks/sentence_task.h"

namespace rondo {

struct SkipThoughtTaskOptions {
  SentenceBatchOptions batches{};
  // While training, the vectors are measured on the sets of these folders every so many updates; 0: never.
  int64_t sentences_every = 0;
  std::vector<std::string> sentence_sets{};
};
Keys keys_of(SkipThoughtTaskOptions& options);

class SkipThoughtObjective : public SentenceObjective<TripleBatches, TripleBatch> {
 public:
  /// The model and the triples must outlive it. The seed determines the order of the batches. InputErrors of
  /// TripleBatches.
  SkipThoughtObjective(SkipThought& model, const SkipThoughtTaskOptions& options, const Triples& train,
                       const Triples& valid, uint64_t seed = 1);

  Module& model() override { return model_; }
  /// The mean over the symbols of both written sentences is minimised.
  Loss loss(int64_t part, const std::vector<Tokens>& indices, RandomContext random) override;
  std::string remedy_for_memory() const override;
  int64_t scored_per_epoch() const override { return batches_.scored() * parts(); }
  /// Nats per symbol of the validation text. `progress` gets the number of triples done.
  Scores evaluate(const std::function<void(int64_t)>& progress = {}) override;

 private:
  /// Each part of the model is a part of the batch: they share nothing.
  void stage(Batch& batch) const override;
  int64_t parts() const { return std::ssize(model_.parts()); }

  SkipThought& model_;
  const Triples& valid_;
};

struct SkipThoughtSettings {
  TripleOptions triples{};  // of section [data], as the next two
  Tokenization tokenization{};
  VocabularyLimits limits{};
  SkipThoughtOptions model{};
  SkipThoughtTaskOptions train{};
};

class SkipThoughtTask
    : public SentenceTask<SkipThoughtTask, SkipThoughtSettings, SkipThought, CorpusText, Triples> {
 public:
  Sections sections() override;
  void check(const std::string& where) const override;
  std::string model_text() const override;
  Usage usage() const override { return {"embed", "the vectors of sentences", "< sentences"}; }

  std::vector<NamedFile> named_files() override;
  void open(const DataSource& source) override;
  void make_vocabularies() override;
  std::vector<std::string> notes() const override;
  std::vector<UnknownShare> unknown_shares() const override;
  void assume(const std::vector<std::int64_t>& sizes) override;
  std::string size_text() const override;

  std::unique_ptr<Module> make_model(const std::vector<std::int64_t>& sizes, std::uint64_t seed,
                                     Device device) const override;
  std::unique_ptr<Objective> make_objective(Module& model, std::uint64_t seed) override;
  Scores measure(Module& model, const std::string& split, const ProgressOf& progress_of) override;
  /// The vector of each sentence, numbers separated by spaces; an empty line is an empty sentence, which has
  /// a vector, too.
  std::vector<LineAnswer> answer(Module& model, const std::vector<InputLine>& lines) override;

  /// The ids of the text of a line (text_of_line()) with its end symbol, which alone is an empty line.
  std::vector<std::int32_t> sentence_ids(const std::string& text, const std::string& name) const;
  /// Takes a vocabulary with further words: lm/evaluation/skip_thought_evaluation.h.
  void set_vocabulary(Vocabulary vocabulary) { vocabulary_ = std::move(vocabulary); }

 private:
  bool has_test() const override { return texts_.test.has_value(); }
  Triples encode(Split split) const override;
};

}  // namespace rondo

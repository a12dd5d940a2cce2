// What tasks on whole sentences share: the objective, which reads them in batches; and, of one vocabulary,
// the texts of the splits, each encoded once. Next: lm/tasks/classification.h.
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "lm/evaluation/evaluation.h"
#include "lm/tasks/task.h"
#include "lm/training/objective.h"

namespace rondo {

// --- Sentence objective ---
// What objectives that read whole sentences in batches share: the place in the data, and the division of a
// batch among ranks. No state is carried from batch to batch.

/// `Batches` is PairBatches, LabelledBatches or the like, `Staged` what its next() gives, and `Data` what is
/// evaluated on.
template <class Model, class Batches, class Staged, class Data>
class SentenceObjective : public Objective {
 public:
  /// The model, the text of the batches and `valid` must outlive it.
  SentenceObjective(Model& model, Batches batches, const Data& valid)
      : model_(model), batches_(std::move(batches)), valid_(valid) {}

  Module& model() override { return model_; }
  void begin_epoch(int64_t epoch) override {
    epoch_ = epoch;
    batches_.seek(epoch, 0);
  }
  bool next_batch(Batch& batch) final {
    if (!batches_.next(staged_)) return false;
    stage(batch);
    if (staged_.share.count == 0) batch.indices.clear(), batch.parts = 0;
    return true;
  }
  /// The largest batch, and the smallest: products of few rows keep packed weights (tensor/products/gemm.h).
  bool stage_extreme(Batch& batch, size_t number) final {
    if (number > 1) return false;
    batches_.seek(1, 0);
    batches_.seek_extreme(number == 0 ? Extreme::largest : Extreme::smallest);
    return next_batch(batch);
  }
  std::string remedy_for_memory() const override {
    return fmt::format("make train.batch, model.hidden or {} smaller; the largest batch has {} rows",
                       limit_of_lengths(), staged_.share.whole);
  }
  /// The batch of the last next_batch().
  const Staged& staged() const { return staged_; }
  void divide(int64_t ranks, int64_t own) override { batches_.divide(ranks, own); }
  double epoch_fraction() const override {
    return static_cast<double>(batches_.position()) / static_cast<double>(batches_.length());
  }
  void save(StateWriter& to) const override { to.add("position", batches_.position()); }
  void load(const StateReader& from) override {
    int64_t position = 0;
    from.read("position", position, 0, batches_.length());
    batches_.seek(epoch_, position);
  }

 protected:
  /// What a user can make smaller so that batches have fewer steps.
  virtual std::string limit_of_lengths() const { return "the longest sentences"; }
  /// Sets what the trainer needs to know of staged_.
  virtual void stage(Batch& batch) const = 0;
  /// Begins the computation of staged_, whose rows have the random numbers of the whole batch's.
  void begin_update(RandomContext random) {
    random.slice = {staged_.share.count, staged_.share.first, staged_.share.whole};
    model_.begin_update(random);
  }

  Model& model_;
  Batches batches_;
  const Data& valid_;
  Staged staged_;

 private:
  int64_t epoch_ = 1;
};

// --- Sentence task ---

/// `Settings` has the members tokenization, limits and model; `Texts` has train, valid, test, files and
/// notes.
template <class Derived, class Settings, class Model, class Texts, class Encoded>
class SentenceTask : public TaskWith<Derived, Settings, Model> {
 public:
  using TaskWith<Derived, Settings, Model>::settings;

  const std::string& cell() const override { return settings.model.cell; }
  const Tokenization& tokenization() const override { return settings.tokenization; }
  std::int64_t largest_vocabulary() const override { return settings.limits.max_size; }
  void check(const std::string& where) const override {
    check_section(where, "data", settings.tokenization);
    check_section(where, "data", settings.limits);
    check_section(where, "", settings.model);
  }

  std::vector<FileDigest> files() const override { return texts_.files; }
  std::vector<std::string> vocabulary_names() const override {
    return names_of_files("vocab.txt", settings.tokenization);
  }
  VocabularyFiles vocabularies() const override { return files_of(*vocabulary_, "vocab.txt"); }
  void set_vocabularies(const VocabularyFiles& files, const std::string& folder) override {
    vocabulary_ = vocabulary_among(files, "vocab.txt", folder, settings.tokenization);
  }
  void prepare() override {
    encoded(Split::train), encoded(Split::valid);
    if (has_test()) encoded(Split::test);
  }
  std::vector<std::string> notes() const override { return texts_.notes; }
  std::int64_t validation_size() const override { return encoded_.at(Split::valid).size(); }
  std::vector<std::string> measured_splits() const override { return valid_and_test(has_test()); }
  std::vector<std::int64_t> sizes() const override { return {vocabulary_->size()}; }
  /// By evaluate() and probe(), which are functions of the model and of what encode() gives.
  Scores measure(Module& model, const std::string& split, const ProgressOf& progress_of) override {
    const Encoded& text = encoded(split_from_string(split));
    return evaluate(this->own(model), text, progress_of("evaluating " + split, text.size()));
  }
  Probed probe(Module& model, const std::string& split, const ProbeOptions& options,
               const std::function<void(std::int64_t)>& progress) override {
    using rondo::probe;
    return probe(this->own(model), encoded(split_from_string(split)), options, progress);
  }

  const Vocabulary& vocabulary() const override { return *vocabulary_; }

 protected:
  virtual bool has_test() const = 0;
  virtual Encoded encode(Split split) const = 0;
  const Encoded& encoded(Split split) {
    if (!encoded_.contains(split)) encoded_.emplace(split, encode(split));
    return encoded_.at(split);
  }

  Texts texts_{};
  std::optional<Vocabulary> vocabulary_;
  std::map<Split, Encoded> encoded_;
};

}  // namespace rondo

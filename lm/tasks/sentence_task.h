// What tasks on the sentences of one vocabulary share: the texts of the splits, each encoded once. The
// derived class opens the texts, and encodes a split. Next: lm/tasks/classification.h.
#pragma once

#include <map>

#include "lm/tasks/task.h"

namespace rondo {

/// `Settings` has the members tokenization, limits, model and train; `Texts` has train, valid, test, files
/// and notes.
template <class Derived, class Settings, class Model, class Texts, class Encoded>
class SentenceTask : public TaskWith<Derived, Settings, Model> {
 public:
  using TaskWith<Derived, Settings, Model>::settings;

  const std::string& cell() const override { return settings.model.cell; }
  const Tokenization& tokenization() const override { return settings.tokenization; }
  std::int64_t largest_vocabulary() const override { return settings.limits.max_size; }

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
  std::vector<std::string> measured_splits() const override {
    return has_test() ? std::vector<std::string>{"valid", "test"} : std::vector<std::string>{"valid"};
  }
  std::vector<std::int64_t> sizes() const override { return {vocabulary_->size()}; }
  Probed probe(Module& model, const std::string& split, const ProbeOptions& options,
               const std::function<void(std::int64_t)>& progress) override {
    return rondo::probe(this->own(model), encoded(split_from_string(split)), options, progress);
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

// Classification of sentences as a task: labelled sentences, their vocabulary and classes, the classifier,
// the loss of each label, and what it predicts. Next: data/sentences/labelled_sentences.h,
// nn/models/sentence_classifier.h.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include "autograd/functions.h"
#include "autograd/operators/arithmetic.h"
#include "data/sentences/labelled_sentences.h"
#include "lm/tasks/sentence_task.h"
#include "nn/models/sentence_classifier.h"

namespace rondo {

inline std::vector<std::vector<int32_t>> indices_of(const LabelledBatch& batch) {
  return {batch.sentences.ids, batch.labels};
}
/// A vector of each sentence; the ids lie on the model's device.
inline Variable summary_of(SentenceClassifier& model, const PaddedSentences& batch, const Tokens& ids,
                           const std::vector<Tokens>& indices = {}) {
  return model.summary({ids, batch.steps, batch.sentences, {batch.lengths, indices, 2}});
}
/// -log p of each label. Behind the indices, where they are to be replayed, is what is staged of the lengths.
inline CrossEntropy nats_of(SentenceClassifier& model, const LabelledBatch& batch,
                            const std::vector<Tokens>& indices) {
  return model.cross_entropy(summary_of(model, batch.sentences, indices[0], indices), indices[1]);
}

/// Measures the accuracy in percent, which is the share of sentences whose most probable class is their
/// label, and the mean of -log p(label). Dropout is off.
inline Scores evaluate_on(SentenceClassifier& model, const LabelledSentences& sentences,
                          const ReportDone& progress = {}) {
  Choices choices;
  const double seconds = read_batches(
      model, LabelledBatches({.batch = rows_at_once, .by = BatchBy::symbols}, sentences, 1), progress,
      [&](const LabelledBatch& it) {
        const Variable summary = summary_of(model, it.sentences, tokens(it.sentences.ids));
        choices.add(model.logits(summary), model.cross_entropy(summary, tokens(it.labels)), it.labels);
      });
  Scores scores = choices.scores("sentences", seconds);
  scores.details.push_back({"classes", model.classes()});
  return scores;
}

struct MostProbableClass {
  std::int32_t id;
  double probability;
};
/// Finds the most probable class of each sentence. Dropout is off.
inline std::vector<MostProbableClass> most_probable_classes(SentenceClassifier& model,
                                                            const Sentences& sentences) {
  std::vector<MostProbableClass> classes(static_cast<std::size_t>(sentences.size()));
  read_sentences(model, sentences, [&](auto indices, const PaddedSentences& batch) {
    const Variable summary = summary_of(model, batch, tokens(batch.ids));
    const std::vector<real> log_p = log_softmax(model.logits(summary)).value().to_vector();
    auto row = log_p.begin();
    for (const std::int64_t i : indices) {
      const auto best = std::max_element(row, row + model.classes());
      classes[static_cast<std::size_t>(i)] = {static_cast<std::int32_t>(best - row), std::exp(*best)};
      row += model.classes();
    }
  });
  return classes;
}

/// Probes with the loss of the label.
inline Probed probe(SentenceClassifier& model, const LabelledSentences& sentences,
                    const ProbeOptions& options, const ReportDone& progress = {}) {
  return probe_batches(
      model, "the loss of the label", LabelledBatches({.batch = probed_at_once}, sentences, 1),
      evenly(sentences.size(), options.sequences), progress,
      [&](const LabelledBatch& it) { return nats_of(model, it, tokens_of(indices_of(it))).total; });
}

class Classification : public SentenceObjective<SentenceClassifier, LabelledBatches> {
 public:
  using SentenceObjective::SentenceObjective;
  std::string scored_items() const override { return "sentences"; }

 private:
  void make_rectangles(Batch& batch) override {
    if (model_.can_be_recorded()) make_rectangles_of(batch, staged_.sentences);
  }
};

// --- The task ---

struct ClassificationSettings {
  LabelledFiles files{};  // of section [data], as the next two
  Tokenization tokenization{};
  VocabularyLimits limits{};
  SentenceClassifierOptions model{};
  SentenceBatchOptions train{};
};

class ClassificationTask : public SentenceTask<ClassificationTask, ClassificationSettings, SentenceClassifier,
                                               LabelledTexts, LabelledSentences, Classification> {
 public:
  Sections sections() override {
    return {
        .data = joined({keys_of(settings.files), keys_of(settings.tokenization), keys_of(settings.limits)}),
        .model = keys_of(settings.model),
        .train = keys_of(settings.train)};
  }
  void check(const std::string& where) const override {
    check_section(where, "data", settings.files);
    SentenceTask::check(where);
    check_input(
        settings.tokenization.unit != Unit::bytes || settings.files.encoding == Encoding::utf8,
        "{}: data.encoding = \"{}\" is for words and characters; bytes are read as they are: leave it out",
        where, name_of(settings.files.encoding));
  }
  bool predicts_text() const override { return false; }
  std::string selection_metric() const override { return "accuracy"; }
  bool higher_is_better() const override { return true; }
  std::string model_text() const override {
    const SentenceClassifierOptions& it = settings.model;
    return fmt::format("{}{} x {} {}, {} over time", it.bidirectional ? "bidirectional " : "", it.layers,
                       it.hidden, it.cell, name_of(it.summary));
  }
  std::string sizes_text(const Sizes& sizes) const override {
    return fmt::format("{} {}, {} classes", sizes.at(0), name_of(settings.tokenization.unit), sizes.at(1));
  }
  Usage usage() const override { return {"classify", "to classify with it", "< sentences"}; }

  void open(const DataSource& source) override {
    check_input(!source.path.empty(), "which text? give --data a folder with {}", settings.files.train);
    texts_ = open_labelled_texts(source.path, settings.files, settings.tokenization.unit);
  }
  std::string other_text() const override { return "FILE"; }
  void open_other(const std::string& path, const DataSource& /*source*/) override {
    texts_ = {};
    texts_.test = labelled_text(
        texts_.record(read_labelled_file(path, settings.files.encoding, settings.tokenization.unit)));
  }
  void make_vocabularies() override {
    vocabularies_ = {Vocabulary(texts_.train.sentences, settings.tokenization, settings.limits)};
    labels_ = labels_of(texts_.train);
  }
  void assume(const Sizes& sizes) override {
    const std::int64_t length = length_within(0), count = sentences_of(settings.train, length);
    set_encoded(
        {some_sentences(count, length, sizes.at(0)), some_ids(static_cast<double>(count), sizes.at(1))});
  }
  std::string size_text() const override {
    const LabelledSentences& train = encoded("train");
    return fmt::format("{} sentences of {} classes, {} symbols, {}", train.size(), labels_->size(),
                       train.sentences.symbols(), vocabulary_text(vocabulary().size()));
  }

  Sizes sizes() const override { return {vocabulary().size(), labels_->size()}; }
  Sizes assumed_sizes(std::int64_t vocabulary) const override { return {vocabulary, 2}; }
  std::unique_ptr<Module> make_model(const Sizes& sizes, std::uint64_t seed, Device device) const override {
    return std::make_unique<SentenceClassifier>(settings.model, sizes.at(0), sizes.at(1), seed, device);
  }
  /// The most probable class of each sentence.
  std::vector<LineAnswer> answer(Module& model, const std::vector<InputLine>& lines) override {
    EncodedLines encoded = encode_lines(lines, vocabulary());
    const std::vector<MostProbableClass> classes = most_probable_classes(own(model), encoded.ids);
    for (std::size_t i = 0; i < classes.size(); ++i) {
      LineAnswer& answer = encoded.answers[encoded.lines[i]];
      answer.text = labels_->symbol(classes[i].id);
      answer.score = classes[i].probability;
    }
    return encoded.answers;
  }

 private:
  std::string further_file() const override { return "labels.txt"; }
  std::string further_content() const override { return labels_->to_text(); }
  void read_further(const std::string& content, const std::string& path) override {
    labels_ = Vocabulary::from_text(content, path, tokenization_of_labels);
  }
  std::vector<UnknownShare> shares_of(const std::string& split, const LabelledSentences& it) const override {
    return {share_of(text(split).sentences, it.sentences, vocabulary(), false)};
  }
  std::string left_out_of(const std::string& split) const override { return text(split).left_out; }
  LabelledSentences encode(const std::string& split) const override {
    return encode_labelled(text(split), vocabulary(), *labels_);
  }

  std::optional<Vocabulary> labels_;
};

}  // namespace rondo

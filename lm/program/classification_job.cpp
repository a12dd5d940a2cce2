// Classification as a job of `lm train`: labelled sentences, their vocabulary and classes, the classifier.
#include <optional>

#include "lm/program/classification_measurement.h"
#include "lm/program/job_of.h"
#include "lm/program/run.h"
#include "lm/tasks/classification.h"

namespace rondo {
namespace {

LabelledTexts texts_of(const TrainOptions& options, Setup& setup) {
  const LabelledTextOptions& data = setup.config.recipe.classification.data;
  setup.place_data(options.data, false);
  const std::string& folder = setup.config.made_by.data;
  check_input(!folder.empty(), "which text? give --data a folder with {}", data.files.train);
  LabelledTexts texts = open_labelled_texts(folder, data.files, data.tokenization.unit);
  setup.check_same_data(sha256_lines(texts.files));
  return texts;
}

Vocabulary vocabulary_for(const Text& train, const Setup& setup) {
  const LabelledTextOptions& data = setup.config.recipe.classification.data;
  const std::vector<Vocabulary> known = known_vocabularies(setup);
  return known.empty() ? Vocabulary(train, data.tokenization, data.limits) : known.front();
}

Labels labels_for(const LabelledText& train, const Setup& setup) {
  return setup.keeps_vocabulary() ? read_labels(*run_with_vocabularies(setup)) : Labels(train);
}

class ClassificationJob : public JobOf<SentenceClassifier, Classification> {
 public:
  ClassificationJob(const TrainOptions& options, Setup& setup)
      : JobOf(setup.config.recipe),
        texts_(texts_of(options, setup)),
        vocabulary_(vocabulary_for(texts_.train.sentences, setup)),
        labels_(labels_for(texts_.train, setup)),
        train_(encoded(texts_.train)),
        valid_(encoded(texts_.valid)) {
    if (texts_.test) test_ = encoded(*texts_.test);
    layout_ = make_model(Device::meta);
  }

  std::vector<std::string> sha256_lines() const override { return rondo::sha256_lines(texts_.files); }
  std::vector<std::string> notes() const override { return texts_.notes; }
  std::vector<UnknownShare> unknown_shares() const override {
    return {share_of(texts_.train.sentences, train_.sentences, vocabulary_, false),
            share_of(texts_.valid.sentences, valid_.sentences, vocabulary_, false)};
  }
  VocabularyFiles vocabularies() const override {
    VocabularyFiles files = files_of(vocabulary_, RunFolder().vocabulary());
    files.emplace_back(RunFolder().labels(), labels_.to_text());
    return files;
  }
  std::string size_text() const override {
    return fmt::format("{} sentences of {} classes, {} symbols, {}", train_.size(), labels_.size(),
                       train_.sentences.symbols(), vocabulary_text(vocabulary_.size()));
  }
  int64_t validation_size() const override { return valid_.size(); }

  Probed probe(const std::function<void(int64_t)>& progress) override {
    return rondo::probe(*model_, train_, {}, progress);
  }

  void conclude(Terminal& terminal, const RunFolder& run) override;

 private:
  std::unique_ptr<SentenceClassifier> make_model(Device device) const override {
    return std::make_unique<SentenceClassifier>(of_task().model, vocabulary_.size(), labels_.size(), seed(),
                                                device);
  }
  std::unique_ptr<Classification> make_task(SentenceClassifier& model) override {
    return std::make_unique<Classification>(model, of_task().task, train_, valid_, seed());
  }
  void measure(Watch& watch, const Setup& setup, const Compute& compute) override;

  const ClassificationRecipe& of_task() const { return recipe_.classification; }
  LabelledSentences encoded(const LabelledText& text) const {
    return encode_labelled(text, vocabulary_, labels_);
  }

  LabelledTexts texts_;
  Vocabulary vocabulary_;
  Labels labels_;
  LabelledSentences train_, valid_;
  std::optional<LabelledSentences> test_;
};

void ClassificationJob::measure(Watch& watch, const Setup& setup, const Compute& compute) {
  const auto measure_on = [&](Split split, const LabelledSentences& sentences) {
    ClassificationMeasurement it{
        "", texts_.at(split).sentences.name, std::string(to_string(split)), vocabulary_.types(), {}};
    it.scores = evaluate_classifier(*model_, sentences,
                                    watch.progress_of("evaluating " + it.split, sentences.size()));
    record(it, figure_of(it.scores), watch, setup, compute);
  };
  measure_on(Split::valid, valid_);
  if (test_) measure_on(Split::test, *test_);
}

void ClassificationJob::conclude(Terminal& terminal, const RunFolder& run) {
  say_run(terminal, run, "to classify with it", "< sentences");
}

}  // namespace

std::unique_ptr<Job> make_classification_job(const TrainOptions& options, Setup& setup) {
  return std::make_unique<ClassificationJob>(options, setup);
}

}  // namespace rondo

// Question answering as a job of `lm train`: cloze questions, their vocabulary and entities, the reader.
#include <optional>

#include "lm/program/job.h"
#include "lm/program/question_answering_measurement.h"
#include "lm/program/question_answering_memory.h"
#include "lm/program/run.h"
#include "lm/tasks/question_answering.h"
#include "lm/tasks/self_test.h"
#include "lm/training/checkpoint.h"
#include "tensor/available_memory.h"

namespace rondo {
namespace {

QuestionTexts texts_of(const TrainOptions& options, Setup& setup) {
  setup.place_data(options.data, false);
  const std::string& path = setup.config.made_by.data;
  check_input(!path.empty(),
              "which questions? give --data a folder with training/*.question, or a text to make questions "
              "from");
  QuestionTexts texts = open_questions(path, setup.config.recipe.question_answering.data.questions,
                                       options.data.empty() ? Pipes::refused : Pipes::accepted);
  setup.check_same_data(sha256_lines(texts.files));
  return texts;
}

Vocabulary vocabulary_for(const QuestionText& train, const QuestionTextOptions& data) {
  return Vocabulary(text_for_vocabulary(train, data.limits.min_count), data.tokenization, data.limits);
}

class QuestionAnsweringJob : public Job {
 public:
  QuestionAnsweringJob(const TrainOptions& options, Setup& setup)
      : recipe_(setup.config.recipe),
        texts_(texts_of(options, setup)),
        vocabulary_(vocabulary_for(texts_.train, of_task().data)),
        train_(encoded(texts_.train)),
        valid_(encoded(texts_.valid)) {
    if (texts_.test.size() > 0) test_ = encoded(texts_.test);
    layout_.emplace(of_task().model, vocabulary_.size(), entities(), std::nullopt);
  }

  std::vector<std::string> sha256_lines() const override { return rondo::sha256_lines(texts_.files); }
  std::vector<std::string> notes() const override { return texts_.notes; }
  VocabularyFiles vocabularies() const override { return files_of(vocabulary_, RunFolder().vocabulary()); }
  std::string size_text() const override {
    return fmt::format("{} questions about {} entities, documents of {} words on average, {} types",
                       train_.size(), entities(), train_.documents.symbols() / train_.size(),
                       vocabulary_.types());
  }
  int64_t validation_size() const override { return valid_.size(); }

  const Module& layout() const override { return *layout_; }
  void check_memory(Device device) const override {
    if (const auto available = available_memory(device))
      check_question_answering_fits(recipe_, *layout_, largest_batch(of_task().task.batches, train_, seed()),
                                    *available);
  }

  void begin(Device device) override {
    model_.emplace(of_task().model, vocabulary_.size(), entities(), seed(), device);
    task_.emplace(*model_, of_task().task, train_, valid_, seed());
    trainer_.emplace(*task_, recipe_.trainer);
  }
  Module& model() override { return *model_; }
  Trainer& trainer() override { return *trainer_; }
  void test_model() override { check_gradients_reach_all(*model_); }

  void measure_best(Watch& watch, const Setup& setup, const Compute& compute) override;
  void conclude(Terminal& terminal, const RunFolder& run) override;

 private:
  uint64_t seed() const { return static_cast<uint64_t>(recipe_.trainer.seed); }
  const QuestionAnsweringRecipe& of_task() const { return recipe_.question_answering; }
  int64_t entities() const { return std::ssize(train_.markers); }
  Questions encoded(const QuestionText& text) const {
    return encode_questions(text, vocabulary_, of_task().data.questions.document_words);
  }

  const Recipe& recipe_;
  QuestionTexts texts_;
  Vocabulary vocabulary_;
  Questions train_, valid_;
  std::optional<Questions> test_;
  std::optional<AttentiveReader> layout_, model_;
  std::optional<QuestionAnswering> task_;
  std::optional<Trainer> trainer_;
};

void QuestionAnsweringJob::measure_best(Watch& watch, const Setup& setup, const Compute& compute) {
  load_model(setup.run.model(), *model_);
  const auto measure_on = [&](Split split, const Questions& questions) {
    AnswerMeasurement it{"", texts_.at(split).name, std::string(to_string(split)), texts_.generated, {}, {}};
    it.scores =
        evaluate_reader(*model_, questions, watch.progress_of("evaluating " + it.split, questions.size()));
    it.baselines = frequency_baselines(questions);
    watch.observers.measured(it.split, figure_of(it.scores));
    keep(setup.run, it, *model_, compute, setup.config.made_by.sha256);
  };
  measure_on(Split::valid, valid_);
  if (test_) measure_on(Split::test, *test_);
}

void QuestionAnsweringJob::conclude(Terminal& terminal, const RunFolder& run) {
  terminal.line("without reading, on valid: " + baselines_text(frequency_baselines(valid_)));
  terminal.line(
      fmt::format("the run is {}; to ask it: lm answer {} < questions, lines of DOCUMENT, a tab, "
                  "QUESTION with {}",
                  run.path.string(), run.path.string(), placeholder));
}

}  // namespace

std::unique_ptr<Job> make_question_answering_job(const TrainOptions& options, Setup& setup) {
  return std::make_unique<QuestionAnsweringJob>(options, setup);
}

}  // namespace rondo

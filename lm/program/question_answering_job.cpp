// Question answering as a job of `lm train`: cloze questions, their vocabulary and entities, the reader.
#include <optional>

#include "lm/program/job_of.h"
#include "lm/program/question_answering_measurement.h"
#include "lm/program/run.h"
#include "lm/tasks/question_answering.h"

namespace rondo {
namespace {

QuestionTexts questions_of(const TrainOptions& options, Setup& setup) {
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
  Vocabulary vocabulary(text_for_vocabulary(train, data.limits.min_count), data.tokenization, data.limits);
  check_has_all_markers(vocabulary, train);
  return vocabulary;
}

class QuestionAnsweringJob : public JobOf<AttentiveReader, QuestionAnswering> {
 public:
  QuestionAnsweringJob(const TrainOptions& options, Setup& setup)
      : JobOf(setup.config.recipe),
        texts_(questions_of(options, setup)),
        vocabulary_(vocabulary_for(texts_.train, of_task().data)),
        train_(encoded(texts_.train)),
        valid_(encoded(texts_.valid)) {
    if (texts_.test.size() > 0) test_ = encoded(texts_.test);
    layout_ = make_model(Device::meta);
  }

  std::vector<std::string> sha256_lines() const override { return rondo::sha256_lines(texts_.files); }
  std::vector<std::string> notes() const override { return texts_.notes; }
  VocabularyFiles vocabularies() const override { return files_of(vocabulary_, RunFolder().vocabulary()); }
  std::string size_text() const override {
    return fmt::format("{} questions about {} entities, documents of {} words on average, {}", train_.size(),
                       entities(), train_.documents.symbols() / train_.size(),
                       vocabulary_text(vocabulary_.size()));
  }
  int64_t validation_size() const override { return valid_.size(); }

  Probed probe(const std::function<void(int64_t)>& progress) override {
    return rondo::probe(*model_, train_, {}, progress);
  }
  void conclude(Terminal& terminal, const RunFolder& run) override;

 private:
  std::unique_ptr<AttentiveReader> make_model(Device device) const override {
    return std::make_unique<AttentiveReader>(of_task().model, vocabulary_.size(), entities(), seed(), device);
  }
  std::unique_ptr<QuestionAnswering> make_task(AttentiveReader& model) override {
    return std::make_unique<QuestionAnswering>(model, of_task().task, train_, valid_, seed());
  }
  void measure(Watch& watch, const Setup& setup, const Compute& compute) override;

  const QuestionAnsweringRecipe& of_task() const { return recipe_.question_answering; }
  int64_t entities() const { return std::ssize(train_.markers); }
  Questions encoded(const QuestionText& text) const {
    return encode_questions(text, vocabulary_, of_task().data.questions.document_words);
  }

  QuestionTexts texts_;
  Vocabulary vocabulary_;
  Questions train_, valid_;
  std::optional<Questions> test_;
};

void QuestionAnsweringJob::measure(Watch& watch, const Setup& setup, const Compute& compute) {
  const auto measure_on = [&](Split split, const Questions& questions) {
    AnswerMeasurement it{
        "", texts_.at(split).name, std::string(to_string(split)), vocabulary_.types(), texts_.generated, {},
        {}};
    it.scores =
        evaluate_reader(*model_, questions, watch.progress_of("evaluating " + it.split, questions.size()));
    it.baselines = frequency_baselines(questions);
    record(it, figure_of(it.scores), watch, setup, compute);
  };
  measure_on(Split::valid, valid_);
  if (test_) measure_on(Split::test, *test_);
}

void QuestionAnsweringJob::conclude(Terminal& terminal, const RunFolder& run) {
  terminal.line("without reading, on valid: " + baselines_text(frequency_baselines(valid_)));
  say_run(terminal, run, "to ask it",
          fmt::format("< questions, lines of DOCUMENT, a tab, QUESTION with {}", placeholder));
}

}  // namespace

std::unique_ptr<Job> make_question_answering_job(const TrainOptions& options, Setup& setup) {
  return std::make_unique<QuestionAnsweringJob>(options, setup);
}

}  // namespace rondo

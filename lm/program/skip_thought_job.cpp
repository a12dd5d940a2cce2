// Skip-thought vectors as a job of `lm train`: triples of sentences, their vocabulary, the model.
#include <optional>

#include "lm/program/job.h"
#include "lm/program/run.h"
#include "lm/program/skip_thought_measurement.h"
#include "lm/program/skip_thought_memory.h"
#include "lm/tasks/self_test.h"
#include "lm/training/checkpoint.h"
#include "tensor/available_memory.h"

namespace rondo {
namespace {

CorpusText passages_of(const TrainOptions& options, Setup& setup) {
  const bool is_given = setup.place_data(options.data, false);
  const std::string& path = setup.config.made_by.data;
  check_input(!path.empty(), "which text? give --data a folder with train.txt, or a text file");
  CorpusText text =
      open_passages(path, setup.config.recipe.skip_thought.data, is_given ? Pipes::accepted : Pipes::refused);
  setup.check_same_data(sha256_lines(text.files));
  return text;
}

Vocabulary vocabulary_for(const CorpusText& text, const PassageOptions& data, const Setup& setup) {
  const std::vector<Vocabulary> known = known_pieces(setup);
  return known.empty() ? Vocabulary(text.train, data.tokenization, data.limits) : known.front();
}

class SkipThoughtJob : public Job {
 public:
  SkipThoughtJob(const TrainOptions& options, Setup& setup)
      : recipe_(setup.config.recipe),
        text_(passages_of(options, setup)),
        vocabulary_(vocabulary_for(text_, of_task().data, setup)),
        train_(triples_of(text_.train, vocabulary_, of_task().data.triples.max_length)),
        valid_(triples_of(text_.valid, vocabulary_)) {
    if (text_.test) test_ = triples_of(*text_.test, vocabulary_);
    layout_.emplace(of_task().model, vocabulary_.size(), std::nullopt);
  }

  std::vector<std::string> sha256_lines() const override { return rondo::sha256_lines(text_.files); }
  std::vector<std::string> notes() const override {
    std::vector<std::string> notes = text_.notes;
    if (train_.left_out > 0)
      notes.push_back(fmt::format("{}: {} of {} triples are left out: a sentence has more than {} symbols",
                                  text_.train.name, train_.left_out, train_.left_out + train_.size(),
                                  of_task().data.triples.max_length));
    return notes;
  }
  VocabularyFiles vocabularies() const override { return files_of(vocabulary_, RunFolder().vocabulary()); }
  std::string size_text() const override {
    return fmt::format("{} triples of {} sentences, {} symbols of {} types", train_.size(),
                       train_.sentences.size(), train_.sentences.symbols(), vocabulary_.types());
  }
  int64_t validation_size() const override { return valid_.size(); }

  const Module& layout() const override { return *layout_; }
  void check_memory(Device device) const override {
    if (const auto available = available_memory(device))
      check_skip_thought_fits(recipe_, *layout_, largest_batch(of_task().task.batches, train_, seed()),
                              *available);
  }

  void begin(Device device) override {
    model_.emplace(of_task().model, vocabulary_.size(), seed(), device);
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
  const SkipThoughtRecipe& of_task() const { return recipe_.skip_thought; }

  const Recipe& recipe_;
  CorpusText text_;
  Vocabulary vocabulary_;
  Triples train_, valid_;
  std::optional<Triples> test_;
  std::optional<SkipThought> layout_, model_;
  std::optional<SkipThoughtTask> task_;
  std::optional<Trainer> trainer_;
};

void SkipThoughtJob::measure_best(Watch& watch, const Setup& setup, const Compute& compute) {
  load_model(setup.run.model(), *model_);
  const auto measure_on = [&](Split split, const Triples& triples) {
    SkipThoughtMeasurement it{
        "", text_.at(split).name, std::string(to_string(split)), vocabulary_.types(), triples.size(), {}};
    it.nats = evaluate_triples(*model_, triples, vocabulary_.unknown_id(),
                               watch.progress_of("evaluating " + it.split, triples.size()));
    watch.observers.measured(it.split, figure_of_triples(it.nats));
    keep(setup.run, it, *model_, compute, setup.config.made_by.sha256);
  };
  measure_on(Split::valid, valid_);
  if (test_) measure_on(Split::test, *test_);
}

void SkipThoughtJob::conclude(Terminal& terminal, const RunFolder& run) {
  terminal.line(fmt::format("the run is {}; the vectors of sentences: lm embed {} < sentences",
                            run.path.string(), run.path.string()));
}

}  // namespace

std::unique_ptr<Job> make_skip_thought_job(const TrainOptions& options, Setup& setup) {
  return std::make_unique<SkipThoughtJob>(options, setup);
}

}  // namespace rondo

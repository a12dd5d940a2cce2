// Skip-thought vectors as a job of `lm train`: triples of sentences, their vocabulary, the model.
#include <nlohmann/json.hpp>
#include <optional>

#include "lm/program/job_of.h"
#include "lm/program/paths.h"
#include "lm/program/run.h"
#include "lm/program/sentence_report.h"
#include "lm/program/skip_thought_measurement.h"

namespace rondo {
namespace {

CorpusText passages_of(const TrainOptions& options, Setup& setup) {
  for (std::string& folder : setup.config.recipe.skip_thought.task.sentence_sets)
    folder = absolute_path(folder).string();
  const bool is_given = setup.place_data(options.data, false);
  const std::string& path = setup.config.made_by.data;
  check_input(!path.empty(), "which text? give --data a folder with train.txt, or a text file");
  CorpusText text =
      open_passages(path, setup.config.recipe.skip_thought.data, is_given ? Pipes::accepted : Pipes::refused);
  setup.check_same_data(sha256_lines(text.files));
  return text;
}

Vocabulary vocabulary_for(const CorpusText& text, const PassageOptions& data, const Setup& setup) {
  const std::vector<Vocabulary> known = known_vocabularies(setup);
  return known.empty() ? Vocabulary(text.train, data.tokenization, data.limits) : known.front();
}

class SkipThoughtJob : public JobOf<SkipThought, SkipThoughtTask> {
 public:
  SkipThoughtJob(const TrainOptions& options, Setup& setup)
      : JobOf(setup.config.recipe),
        text_(passages_of(options, setup)),
        vocabulary_(vocabulary_for(text_, of_task().data, setup)),
        train_(triples_of(text_.train, vocabulary_, of_task().data.triples.max_length)),
        valid_(triples_of(text_.valid, vocabulary_)),
        sets_(of_task().task.sentences_every > 0 ? read_sentence_sets(of_task().task.sentence_sets)
                                                 : std::vector<SentenceSet>()) {
    if (text_.test) test_ = triples_of(*text_.test, vocabulary_);
    layout_ = make_model(Device::meta);
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
  std::vector<UnknownShare> unknown_shares() const override {
    return {share_of(text_.train, train_.sentences, vocabulary_),
            share_of(text_.valid, valid_.sentences, vocabulary_)};
  }
  VocabularyFiles vocabularies() const override { return files_of(vocabulary_, RunFolder().vocabulary()); }
  std::string size_text() const override {
    return fmt::format("{} triples of {} sentences, {} symbols, {}", train_.size(), train_.sentences.size(),
                       train_.sentences.symbols(), vocabulary_text(vocabulary_.size()));
  }
  int64_t validation_size() const override { return valid_.size(); }

  Probed probe(const std::function<void(int64_t)>& progress) override {
    return rondo::probe(*model_, train_, {}, progress);
  }
  int64_t measures_every() const override { return of_task().task.sentences_every; }
  std::vector<nlohmann::ordered_json> measure_meanwhile() override {
    std::vector<nlohmann::ordered_json> figures;
    for (const SentenceSet& set : sets_)
      figures.push_back(json_of(measure_sentences(*model_, vocabulary_, set)));
    return figures;
  }
  void conclude(Terminal& terminal, const RunFolder& run) override;

 private:
  std::unique_ptr<SkipThought> make_model(Device device) const override {
    return std::make_unique<SkipThought>(of_task().model, vocabulary_.size(), seed(), device);
  }
  std::unique_ptr<SkipThoughtTask> make_task(SkipThought& model) override {
    return std::make_unique<SkipThoughtTask>(model, of_task().task, train_, valid_, seed());
  }
  void measure(Watch& watch, const Setup& setup, const Compute& compute) override;

  const SkipThoughtRecipe& of_task() const { return recipe_.skip_thought; }

  CorpusText text_;
  Vocabulary vocabulary_;
  Triples train_, valid_;
  std::optional<Triples> test_;
  std::vector<SentenceSet> sets_;
};

void SkipThoughtJob::measure(Watch& watch, const Setup& setup, const Compute& compute) {
  const auto measure_on = [&](Split split, const Triples& triples) {
    SkipThoughtMeasurement it{
        "", text_.at(split).name, std::string(to_string(split)), vocabulary_.types(), triples.size(), {}};
    it.nats = evaluate_triples(*model_, triples, vocabulary_.unknown_id(),
                               watch.progress_of("evaluating " + it.split, triples.size()));
    record(it, figure_of_triples(it.nats), watch, setup, compute);
  };
  measure_on(Split::valid, valid_);
  if (test_) measure_on(Split::test, *test_);
}

void SkipThoughtJob::conclude(Terminal& terminal, const RunFolder& run) {
  say_run(terminal, run, "the vectors of sentences", "< sentences");
}

}  // namespace

std::unique_ptr<Job> make_skip_thought_job(const TrainOptions& options, Setup& setup) {
  return std::make_unique<SkipThoughtJob>(options, setup);
}

}  // namespace rondo

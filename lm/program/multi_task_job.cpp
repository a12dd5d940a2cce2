// Multi-task learning as a job of `lm train`: the texts of the tasks' languages, line by line parallel, a
// vocabulary of each language, the encoders and decoders that the tasks share.
#include <algorithm>
#include <map>
#include <optional>

#include "lm/program/job_of.h"
#include "lm/program/measure_translator.h"
#include "lm/program/multi_task_text.h"
#include "lm/program/run.h"
#include "lm/program/translator.h"
#include "lm/tasks/multi_task.h"
#include "lm/tasks/translation.h"
#include "nn/models/shared_encoder_decoders.h"

namespace rondo {
namespace {

MultiTaskText tasks_text_of(const TrainOptions& options, Setup& setup) {
  const Recipe& recipe = setup.config.recipe;
  setup.place_data(options.data, false);
  const std::string& folder = setup.config.made_by.data;
  const MixedTaskOptions& first = recipe.tasks.front();
  check_input(!folder.empty(), "which text? give --data a folder with {0}.{1} and {0}.{2}",
              recipe.translation.data.files.train, first.source, first.target);
  return open_multi_task_text(folder, recipe.tasks, recipe.translation);
}

std::map<std::string, Vocabulary> vocabularies_for(const MultiTaskText& text, const Setup& setup) {
  const Recipe& recipe = setup.config.recipe;
  std::vector<Vocabulary> known = known_vocabularies(setup);
  return known.empty() ? vocabularies_of(text, recipe.tasks, recipe.translation.data)
                       : by_language(recipe.tasks, std::move(known));
}

class MultiTaskJob : public JobOf<SharedEncoderDecoders, MultiTask> {
 public:
  MultiTaskJob(const TrainOptions& options, Setup& setup)
      : JobOf(setup.config.recipe),
        text_(tasks_text_of(options, setup)),
        vocabularies_(vocabularies_for(text_, setup)) {
    setup.check_same_data(sha256_lines());
    for (const MixedTaskOptions& task : recipe_.tasks) parts_.push_back(part_of(task));
    Part& first = *parts_.front();
    if (text_.has_test) test_ = evaluated(recipe_.tasks.front(), Split::test, first.vocabularies);
    layout_ = make_model(Device::meta);
  }

  std::vector<std::string> sha256_lines() const override { return rondo::sha256_lines(text_.files); }
  std::vector<std::string> notes() const override {
    std::vector<std::string> notes = text_.notes;
    for (size_t i = 0; i < parts_.size(); ++i)
      for (const std::string& it : notes_of(parts_[i]->train, recipe_.translation.data.pairs.max_length))
        notes.push_back(fmt::format("{}: {}", recipe_.tasks[i].name, it));
    return notes;
  }
  VocabularyFiles vocabularies() const override {
    VocabularyFiles files;
    for (const auto& [language, path] : vocabulary_paths(RunFolder(), recipe_.tasks))
      for (auto& file : files_of(vocabularies_.at(language), path)) files.push_back(std::move(file));
    return files;
  }
  std::string size_text() const override {
    std::vector<std::string> texts;
    for (size_t i = 0; i < parts_.size(); ++i)
      texts.push_back(fmt::format("{} {} sentences", recipe_.tasks[i].name, parts_[i]->train.size()));
    for (const std::string& language : languages_of(recipe_.tasks))
      texts.push_back(fmt::format("{} {}", language, vocabulary_text(vocabularies_.at(language).size())));
    return fmt::format("{}", fmt::join(texts, ", "));
  }
  int64_t validation_size() const override { return parts_.front()->valid.pairs.size(); }

  Probed probe(const std::function<void(int64_t)>& progress) override {
    return rondo::probe(model_->at(0), parts_.front()->train, recipe_.translation.task.batches.reverse_source,
                        {}, progress);
  }

  void conclude(Terminal& terminal, const RunFolder& run) override {
    say_run(terminal, run, "to translate with it", "< sentences");
  }

 private:
  std::unique_ptr<SharedEncoderDecoders> make_model(Device device) const override {
    return std::make_unique<SharedEncoderDecoders>(model_options(), sizes(), routes(), seed_of_part(0),
                                                   device);
  }
  std::unique_ptr<MultiTask> make_task(SharedEncoderDecoders& model) override {
    std::vector<MixedTask> tasks;
    for (size_t i = 0; i < parts_.size(); ++i) {
      Part& part = *parts_[i];
      part.task.emplace(model.at(i), recipe_.translation.task, part.train, part.valid, seed_of_part(i));
      tasks.push_back({recipe_.tasks[i].name, recipe_.tasks[i].ratio, &*part.task});
    }
    return std::make_unique<MultiTask>(model, std::move(tasks), seed_of_part(0));
  }
  void measure(Watch& watch, const Setup& setup, const Compute& compute) override {
    measure_translator(model_->at(0), recipe_.translation, parts_.front()->valid, test_, watch, setup,
                       compute);
  }

  /// The data of a task, and the task.
  struct Part {
    PairVocabularies vocabularies;
    Pairs train;
    TranslationText valid;
    std::optional<Translation> task{};
  };

  /// Tasks on the same text read it in different orders.
  uint64_t seed_of_part(size_t i) const { return seed() + i; }

  std::unique_ptr<Part> part_of(const MixedTaskOptions& task) const {
    const ParallelTextOptions& data = recipe_.translation.data;
    auto part = std::make_unique<Part>(Part{vocabularies_of(task, vocabularies_), {}, {}});
    const TextPair text = train_text_of(text_, task, data.pairs_share);
    part->train = task.source.empty() ? encode_pairs(text, part->vocabularies, data.pairs.max_length)
                                      : training_pairs(text, part->vocabularies, data.pairs.max_length);
    part->valid = evaluated(task, Split::valid, part->vocabularies);
    return part;
  }
  /// Only the first task, which decides, has references to translate.
  TranslationText evaluated(const MixedTaskOptions& task, Split split,
                            const PairVocabularies& vocabularies) const {
    TranslationText text = translation_text(text_of_task(text_, task, split), vocabularies,
                                            recipe_.translation.task.batches.reverse_source);
    if (&task != &recipe_.tasks.front()) text.references.clear();
    return text;
  }

  const EncoderDecoderOptions& model_options() const { return recipe_.translation.model; }
  std::map<std::string, int64_t> sizes() const { return sizes_of(vocabularies_); }
  std::vector<Route> routes() const { return routes_of(recipe_.tasks); }

  MultiTaskText text_;
  std::map<std::string, Vocabulary> vocabularies_;  // of each language
  std::vector<std::unique_ptr<Part>> parts_;        // of each task
  std::optional<TranslationText> test_;             // of the first one
};

}  // namespace

std::unique_ptr<Job> make_multi_task_job(const TrainOptions& options, Setup& setup) {
  return std::make_unique<MultiTaskJob>(options, setup);
}

}  // namespace rondo

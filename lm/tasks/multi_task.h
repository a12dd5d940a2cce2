// Multi-task learning: an objective over objectives that share modules, and the task that trains
// encoder-decoders so. Luong, Le, Sutskever, Vinyals & Kaiser 2016, "Multi-task Sequence to Sequence
// Learning", section 3: each update is from the data of one task, task i with the probability
//
//   p_i = alpha_i / sum over j of alpha_j
//
// where alpha_i is the mixing ratio of task i. The first task is the reference: its ratio is 1, it ends the
// epochs, and its figure decides which weights are best. Task i gets alpha_i updates for each update of the
// reference on average; when its data end, they begin again. Models that share modules:
// nn/models/shared_encoder_decoders.h.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "data/line_pairs.h"
#include "lm/tasks/translation.h"
#include "lm/training/objective.h"
#include "nn/models/shared_encoder_decoders.h"

namespace rondo {

/// An objective among several.
struct MixedTask {
  std::string name;  // of its metrics and of its state
  double ratio = 1;  // alpha, above 0
  Objective* objective = nullptr;
};

class MultiTask : public Objective {
 public:
  /// `model` is the root of what all tasks train; it and the tasks must outlive this one. The seed determines
  /// the choice of tasks. InputErrors: no task, a ratio that is not above 0, a first one other than 1.
  MultiTask(Module& model, std::vector<MixedTask> tasks, uint64_t seed = 1);

  /// The index of the task whose data make update `step`, counted from 0: a function of the seed, the ratios
  /// and the step alone.
  size_t chosen(int64_t step) const;

  Module& model() override { return model_; }
  /// Of the reference; the others continue where they are.
  void begin_epoch(int64_t epoch) override;
  bool next_batch(Batch& batch) override;
  bool stage_extreme(Batch& batch, size_t number) override;
  std::string remedy_for_memory() const override { return tasks_[now_].objective->remedy_for_memory(); }
  Loss loss(int64_t part, const std::vector<Tokens>& indices, RandomContext random) override;
  void carry_state(int64_t part) override { tasks_[now_].objective->carry_state(part); }
  void end_batch(int64_t step) override;
  double epoch_fraction() const override { return tasks_.front().objective->epoch_fraction(); }
  /// Expected, if the batches of all tasks have the same size.
  int64_t scored_per_epoch() const override;
  std::string scored_items() const override { return tasks_.front().objective->scored_items(); }
  /// The reference's metrics; then, as "NAME.METRIC", the first one of each of the others.
  Scores evaluate(const std::function<void(int64_t)>& progress) override;
  void divide(int64_t ranks, int64_t own) override;
  void collect_state(Ranks& ranks) override;
  void save(StateWriter& to) const override;
  void load(const StateReader& from) override;

 private:
  Module& model_;
  std::vector<MixedTask> tasks_;
  uint64_t seed_;
  double sum_ = 0;               // of the ratios
  std::vector<int64_t> epochs_;  // of each task
  int64_t step_ = 0;             // the next update
  size_t now_ = 0;               // the task of the staged batch
};

/// Section [tasks.NAME]. With one language twice it is an auto-encoder, or with other pairs of its lines a
/// skip-thought model; without a source a language model. Tasks share the encoder of a source language and
/// the decoder of a target language.
struct MixedTaskOptions {
  std::string name{};
  std::string source{}, target{};  // languages: the ends of the names of files
  PairsOf pairs = PairsOf::lines;  // others than lines: of one language
  double ratio = 1;

  Route route() const { return {source, target}; }
  bool translates() const { return !source.empty() && source != target; }
};
Keys keys_of(MixedTaskOptions& options);

struct MultiTaskSettings {
  TranslationSettings translation{};  // of all tasks; their languages are not settings
  std::vector<MixedTaskOptions> tasks{};
};

/// The texts of all languages, parallel line by line.
struct MultiTaskText {
  std::map<std::string, std::map<Split, Text>> languages{};
  bool has_test = false;            // of the first task's languages
  std::vector<FileDigest> files{};  // first those of the first task, in the order of open_parallel_text()
  std::vector<std::string> notes{};
};

class MultiTaskLearning : public TaskWith<MultiTaskLearning, MultiTaskSettings, SharedEncoderDecoders>,
                          public TranslatingTask {
 public:
  Sections sections() override;
  bool add_part(const std::string& name) override;
  std::vector<std::string> parts() const override;
  void check(const std::string& where) const override;
  const std::string& cell() const override { return settings.translation.model.cell; }
  const Tokenization& tokenization() const override { return settings.translation.data.tokenization; }
  std::int64_t largest_vocabulary() const override { return settings.translation.data.limits.max_size; }
  std::string selection_metric() const override { return name_of(settings.translation.train.decides); }
  bool higher_is_better() const override {
    return settings.translation.train.decides != SelectionMetric::nats;
  }
  std::string preferred_reading() const override { return search_text(settings.translation.decoding.beam); }
  std::string model_text() const override;
  Usage usage() const override { return {"translate", "to translate with it", "< sentences"}; }

  /// Chooses the task that is measured, probed and used to translate; else it is the first one. InputError
  /// for an unknown name, which `where` begins.
  void choose_part(const std::string& name, const std::string& where) override;

  void open(const DataSource& source) override;
  std::vector<FileDigest> files() const override { return text_.files; }
  void open_other(const std::string& path, const DataSource& source) override;
  void make_vocabularies() override;
  std::vector<std::string> vocabulary_names() const override;
  VocabularyFiles vocabularies() const override;
  void set_vocabularies(const VocabularyFiles& files, const std::string& folder) override;
  void prepare() override;
  std::vector<std::string> notes() const override;
  void assume(const std::vector<std::int64_t>& sizes) override;
  std::string size_text() const override;
  std::int64_t validation_size() const override { return parts_.front().valid.pairs.size(); }
  std::vector<std::string> measured_splits() const override {
    return text_.has_test ? std::vector<std::string>{"valid", "test"} : std::vector<std::string>{"valid"};
  }

  std::vector<std::int64_t> sizes() const override;
  std::vector<std::int64_t> assumed_sizes(std::int64_t vocabulary) const override {
    return std::vector<std::int64_t>(languages().size(), vocabulary);
  }
  const Vocabulary& vocabulary() const override { return vocabularies_.at(chosen().target); }
  std::unique_ptr<Module> make_model(const std::vector<std::int64_t>& sizes, std::uint64_t seed,
                                     Device device) const override;
  std::unique_ptr<Objective> make_objective(Module& model, std::uint64_t seed) override;
  Scores measure(Module& model, const std::string& split, const ProgressOf& progress_of) override;
  std::vector<LineAnswer> answer(Module& model, const std::vector<InputLine>& lines) override {
    return translate_lines(translator(model), settings.translation, lines);
  }
  Probed probe(Module& model, const std::string& split, const ProbeOptions& options,
               const std::function<void(std::int64_t)>& progress) override;

  TranslationSettings& translation() override { return settings.translation; }
  Translator translator(Module& model) override;

  /// What a task reads and writes: translations a share of the training text, all others the whole one. The
  /// source of a language model is empty lines. InputError if there is no test text.
  TextPair text_of(const MixedTaskOptions& task, Split split) const;

 private:
  /// The data of a task.
  struct Part {
    PairVocabularies vocabularies;
    Pairs train;
    TranslationText valid;
  };
  /// The objectives of the tasks, and that over them.
  class Objectives;

  /// The languages of all tasks, in the order of their first mention: first the two of the first task.
  std::vector<std::string> languages() const;
  /// The files of the vocabularies, in the order of languages(): of the first task those of translation, of
  /// further languages vocab.LANGUAGE.txt.
  std::vector<std::string> files_of_languages() const;
  const MixedTaskOptions& chosen() const { return settings.tasks.at(chosen_); }
  ParallelOptions parallel(const std::string& source, const std::string& target) const;
  PairVocabularies vocabularies_of_task(const MixedTaskOptions& task) const;
  TranslationText evaluated(const MixedTaskOptions& task, Split split,
                            const PairVocabularies& vocabularies) const;

  std::size_t chosen_ = 0;
  MultiTaskText text_{};
  std::map<std::string, Vocabulary> vocabularies_;  // of each language
  std::deque<Part> parts_;                          // of each task; in a training
  std::optional<PairVocabularies> of_chosen_;
};

}  // namespace rondo

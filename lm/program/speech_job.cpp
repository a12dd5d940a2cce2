// Speech recognition as a job of `lm train`: recordings and their transcripts, the alphabet, the recogniser.
#include <map>
#include <optional>
#include <set>

#include "lm/program/job.h"
#include "lm/program/run.h"
#include "lm/program/speech_measurement.h"
#include "lm/program/speech_memory.h"
#include "lm/tasks/self_test.h"
#include "lm/tasks/speech.h"
#include "lm/training/checkpoint.h"
#include "tensor/available_memory.h"

namespace rondo {
namespace {

SpeechCorpus corpus_for(const TrainOptions& options, Setup& setup) {
  const SpeechOptions& of_corpus = setup.config.recipe.speech.data.corpus;
  setup.place_data(options.data, false);
  const std::string& folder = setup.config.made_by.data;
  check_input(!folder.empty(), "which recordings? give --data a folder with {}",
              of_corpus.source == SpeechSource::digits ? "recordings of digits" : "train.tsv and valid.tsv");
  SpeechCorpus corpus = open_speech(folder, of_corpus);
  setup.check_same_data(sha256_lines(corpus.files));
  return corpus;
}

class SpeechJob : public Job {
 public:
  SpeechJob(const TrainOptions& options, Setup& setup)
      : recipe_(setup.config.recipe),
        corpus_(corpus_for(options, setup)),
        vocabulary_(speech_vocabulary(corpus_.at("train"))) {
    if (frames().normalized_by == NormalizedBy::corpus)
      statistics_ = statistics_of(corpus_.at("train"), frames().filterbank);
    train_ = read("train");
    left_out_ = leave_out_impossible(train_, frames());
    check_input(train_.size() > 0,
                "{}: all utterances are too short for their transcripts: make data.stack smaller",
                corpus_.at("train").name);
    // All of them before the training, which an unreadable recording must not end.
    for (const auto& [split, text] : corpus_.splits)
      if (split != "train") measured_.emplace(split, read(split));
    bool any_fits = false;
    for (std::size_t i = 0; i < valid().frames.size(); ++i)
      any_fits |= fits_into(valid().labels[i], steps_of(valid().frames[i].size(), frames()));
    check_input(any_fits, "{}: all utterances are too short for their transcripts", corpus_.at("valid").name);
    layout_.emplace(of_task().model, width_of(frames()), vocabulary_.size(), std::nullopt);
    SpeechDecoder(of_task().decoding, vocabulary_);  // before the training: what it reads at the end
  }

  std::vector<std::string> sha256_lines() const override { return rondo::sha256_lines(corpus_.files); }
  std::vector<std::string> notes() const override {
    std::vector<std::string> notes = corpus_.notes;
    if (left_out_ > 0)
      notes.push_back(
          fmt::format("{} training utterances have fewer steps than their transcripts need, and are left out",
                      left_out_));
    return notes;
  }
  VocabularyFiles vocabularies() const override {
    VocabularyFiles files = files_of(vocabulary_, RunFolder().vocabulary());
    if (statistics_) files.emplace_back(RunFolder().frames(), statistics_->to_text());
    return files;
  }
  std::string size_text() const override {
    std::set<std::string> speakers;
    for (const Utterance& it : corpus_.at("train").utterances) speakers.insert(it.speaker);
    int64_t characters = 0, count = 0;
    for (const auto& labels : train_.labels) characters += std::ssize(labels);
    for (const Frames& it : train_.frames) count += it.size();
    const double minutes = static_cast<double>(count) * frames().filterbank.step / 60'000;
    return fmt::format("{} utterances of {} speakers, {:.1f} minutes, {} characters of {} types",
                       train_.size(), speakers.size(), minutes, characters, vocabulary_.size() - 1);
  }
  int64_t validation_size() const override { return valid().size(); }

  const Module& layout() const override { return *layout_; }
  void check_memory(Device device) const override {
    if (const auto available = available_memory(device))
      check_speech_fits(recipe_, *layout_,
                        UtteranceBatches(of_task().task.batches, frames(), train_, seed()).largest(),
                        *available);
  }

  void begin(Device device) override {
    model_.emplace(of_task().model, width_of(frames()), vocabulary_.size(), seed(), device);
    task_.emplace(*model_, of_task().task, frames(), vocabulary_, train_, valid(), seed());
    trainer_.emplace(*task_, recipe_.trainer);
  }
  Module& model() override { return *model_; }
  Trainer& trainer() override { return *trainer_; }
  void test_model() override { check_gradients_reach_all(*model_); }

  void measure_best(Watch& watch, const Setup& setup, const Compute& compute) override;
  void conclude(Terminal& terminal, const RunFolder& run) override;

 private:
  uint64_t seed() const { return static_cast<uint64_t>(recipe_.trainer.seed); }
  const SpeechRecipe& of_task() const { return recipe_.speech; }
  const FrameOptions& frames() const { return of_task().data.frames; }
  const Utterances& valid() const { return measured_.at("valid"); }
  Utterances read(const std::string& split) const {
    return read_utterances(corpus_.at(split), vocabulary_, frames(), statistics_ ? &*statistics_ : nullptr);
  }

  const Recipe& recipe_;
  SpeechCorpus corpus_;
  Vocabulary vocabulary_;
  std::optional<FrameStatistics> statistics_;
  Utterances train_;
  std::map<std::string, Utterances> measured_;  // the other splits
  int64_t left_out_ = 0;
  std::optional<CtcModel> layout_, model_;
  std::optional<SpeechRecognition> task_;
  std::optional<Trainer> trainer_;
};

void SpeechJob::measure_best(Watch& watch, const Setup& setup, const Compute& compute) {
  load_model(setup.run.model(), *model_);
  const SpeechDecoder decode(of_task().decoding, vocabulary_);
  for (const std::string split : {"valid", "test", "speakers"}) {
    if (!measured_.contains(split)) continue;
    const Utterances& utterances = measured_.at(split);
    const std::string& text = corpus_.at(split).name;
    SpeechMeasurement it{"", text, split, corpus_.stand_in, decode.text(), {}, {}};
    it.scores = evaluate_recogniser(*model_, utterances, frames(), vocabulary_, decode,
                                    watch.progress_of("evaluating " + split, utterances.size()));
    watch.observers.measured(split, figure_of(it.scores, it.read));
    keep(setup.run, it, *model_, compute, setup.config.made_by.sha256);
  }
}

void SpeechJob::conclude(Terminal& terminal, const RunFolder& run) {
  terminal.line(fmt::format("the run is {}; to transcribe with it: lm transcribe {} FILE.wav",
                            run.path.string(), run.path.string()));
  if (!corpus_.stand_in.empty()) terminal.line(fmt::format("these are {}", corpus_.stand_in));
}

}  // namespace

std::unique_ptr<Job> make_speech_job(const TrainOptions& options, Setup& setup) {
  return std::make_unique<SpeechJob>(options, setup);
}

}  // namespace rondo

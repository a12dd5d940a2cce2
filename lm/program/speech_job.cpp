// Speech recognition as a job of `lm train`: recordings and their transcripts, the alphabet, the recogniser.
#include <map>
#include <optional>
#include <set>

#include "data/input_file.h"
#include "data/text.h"
#include "lm/program/job_of.h"
#include "lm/program/run.h"
#include "lm/program/speech_measurement.h"
#include "lm/tasks/speech.h"

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

/// Records the n-gram model that decodes. InputError if it is not that of the resumed run.
void record_ngram(Setup& setup) {
  const std::string& file = setup.config.recipe.speech.decoding.ngram;
  if (file.empty()) return;
  if (setup.resumes && !has_changed(file, setup.config.made_by)) return;
  check_input(!setup.resumes,
              "{}: the n-gram model has changed since this run was made: restore it, or go on without one by "
              "decoding.ngram = \"\" in {}",
              printable(file), setup.run.config().string());
  setup.config.made_by.ngram = sha256_hex(InputFile(file));
}

class SpeechJob : public JobOf<CtcModel, SpeechRecognition> {
 public:
  SpeechJob(const TrainOptions& options, Setup& setup)
      : JobOf(setup.config.recipe),
        corpus_(corpus_for(options, setup)),
        vocabulary_(speech_vocabulary(corpus_.at("train"))) {
    record_ngram(setup);
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
    layout_ = make_model(Device::meta);
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
    return fmt::format("{} utterances of {} speakers, {:.1f} minutes, {} characters, {}", train_.size(),
                       speakers.size(), minutes, characters, vocabulary_text(vocabulary_.size()));
  }
  int64_t validation_size() const override { return valid().size(); }

  Probed probe(const std::function<void(int64_t)>& progress) override {
    return rondo::probe(*model_, train_, frames(), {}, progress);
  }
  void conclude(Terminal& terminal, const RunFolder& run) override;

 private:
  std::unique_ptr<CtcModel> make_model(Device device) const override {
    return std::make_unique<CtcModel>(of_task().model, width_of(frames()), vocabulary_.size(), seed(),
                                      device);
  }
  std::unique_ptr<SpeechRecognition> make_task(CtcModel& model) override {
    return std::make_unique<SpeechRecognition>(model, of_task().task, frames(), vocabulary_, train_, valid(),
                                               seed());
  }
  void measure(Watch& watch, const Setup& setup, const Compute& compute) override;

  const SpeechRecipe& of_task() const { return recipe_.speech; }
  const FrameOptions& frames() const { return of_task().data.frames; }
  const Utterances& valid() const { return measured_.at("valid"); }
  Utterances read(const std::string& split) const {
    return read_utterances(corpus_.at(split), vocabulary_, frames(), statistics_ ? &*statistics_ : nullptr);
  }

  SpeechCorpus corpus_;
  Vocabulary vocabulary_;
  std::optional<FrameStatistics> statistics_;
  Utterances train_;
  std::map<std::string, Utterances> measured_;  // the other splits
  int64_t left_out_ = 0;
};

void SpeechJob::measure(Watch& watch, const Setup& setup, const Compute& compute) {
  const SpeechDecoder decode(of_task().decoding, vocabulary_);
  for (const std::string split : {"valid", "test", "speakers"}) {
    if (!measured_.contains(split)) continue;
    const Utterances& utterances = measured_.at(split);
    const std::string& text = corpus_.at(split).name;
    SpeechMeasurement it{"", text, split, corpus_.stand_in, decode.text(), {}, {}};
    it.scores = evaluate_recogniser(*model_, utterances, frames(), vocabulary_, decode,
                                    watch.progress_of("evaluating " + split, utterances.size()));
    record(it, figure_of(it.scores, it.read), watch, setup, compute);
  }
}

void SpeechJob::conclude(Terminal& terminal, const RunFolder& run) {
  say_run(terminal, run, "to transcribe with it", "FILE.wav");
  if (!corpus_.stand_in.empty()) terminal.line(fmt::format("these are {}", corpus_.stand_in));
}

}  // namespace

std::unique_ptr<Job> make_speech_job(const TrainOptions& options, Setup& setup) {
  return std::make_unique<SpeechJob>(options, setup);
}

}  // namespace rondo

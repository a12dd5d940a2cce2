// Speech recognition as a task.
#include "lm/tasks/speech.h"

#include <set>

#include "autograd/operators/arithmetic.h"
#include "lm/tasks/task.h"
#include "nn/cells/catalogue.h"

namespace rondo {

Keys keys_of(SpeechTaskOptions& options) { return batch_keys(options.batches, "utterances; or their steps"); }

SpeechRecognition::SpeechRecognition(CtcModel& model, const SpeechTaskOptions& options,
                                     const FrameOptions& frames, const Vocabulary& vocabulary,
                                     const Utterances& train, const Utterances& valid, uint64_t seed)
    : SentenceObjective(UtteranceBatches(options.batches, frames, train, seed)),
      model_(model),
      frames_(frames),
      vocabulary_(vocabulary),
      decode_({}, vocabulary),
      valid_(valid) {
  for (const auto& labels : train.labels) characters_ += std::ssize(labels);
}

void SpeechRecognition::stage(Batch& batch) const { batch.scored = staged_.scored; }

Loss SpeechRecognition::loss(int64_t, const std::vector<Tokens>&, RandomContext random) {
  begin_update(random);
  const Variable scores = model_.scores(frames_of(staged_, model_.device()), staged_.lengths);
  const Variable nats = ctc_loss(scores, CtcTargets(staged_.labels, staged_.lengths));
  return {sum(nats) / static_cast<real>(staged_.share.whole), {nats.value()}};
}

std::string SpeechRecognition::remedy_for_memory() const {
  return fmt::format(
      "make train.batch, model.hidden or the longest utterances smaller, or data.stack larger; the largest "
      "batch has {} utterances of {} steps",
      staged_.utterances, staged_.steps);
}

Scores SpeechRecognition::evaluate(const std::function<void(int64_t)>& progress) {
  return scores_of(evaluate_recogniser(model_, valid_, frames_, vocabulary_, decode_, progress),
                   decode_.text());
}

Scores scores_of(const SpeechScores& scores, const std::string& read) {
  Scores result{.metrics = {{"cer", scores.cer()}, {"wer", scores.wer()}, {"nats", scores.nats()}},
                .count = scores.characters.reference,
                .unit = "characters",
                .read = read,
                .preposition = "by",
                .seconds = scores.seconds,
                .details = {{"utterances", scores.utterances}}};
  const auto add = [&](const std::string& of, const EditCounts& it) {
    result.details.push_back({of + ".substitutions", it.substitutions});
    result.details.push_back({of + ".insertions", it.insertions});
    result.details.push_back({of + ".deletions", it.deletions});
    result.details.push_back({of + ".of", it.reference});
  };
  add("character_errors", scores.characters);
  add("word_errors", scores.words);
  result.details.push_back({"symbols", scores.scored});
  result.details.push_back({"impossible", scores.impossible});
  return result;
}

int64_t leave_out_impossible(Utterances& utterances, const FrameOptions& frames) {
  Utterances kept;
  for (size_t i = 0; i < utterances.frames.size(); ++i) {
    if (!fits_into(utterances.labels[i], steps_of(utterances.frames[i].size(), frames))) continue;
    kept.frames.push_back(std::move(utterances.frames[i]));
    kept.labels.push_back(std::move(utterances.labels[i]));
    kept.transcripts.push_back(std::move(utterances.transcripts[i]));
  }
  const int64_t left_out = utterances.size() - kept.size();
  utterances = std::move(kept);
  return left_out;
}

// --- The task ---

Sections SpeechTask::sections() {
  return {.data = joined({keys_of(settings.corpus), keys_of(settings.frames)}),
          .model = keys_of(settings.model),
          .train = keys_of(settings.train),
          .others = section("decoding", keys_of(settings.decoding))};
}

void SpeechTask::check(const std::string& where) const {
  check_section(where, "data", settings.corpus);
  check_section(where, "data", settings.frames);
  check_section(where, "", settings.model);
  check_rows_at_once(where, traits_of(settings.model.cell).looks_across_rows, "train.batch",
                     settings.train.batches.batch);
  check_section(where, "decoding", settings.decoding);
}

std::string SpeechTask::model_text() const {
  const CtcModelOptions& it = settings.model;
  return fmt::format("{}{} x {} {}, CTC", it.bidirectional ? "bidirectional " : "", it.layers, it.hidden,
                     it.cell);
}

void SpeechTask::open(const DataSource& source) {
  check_input(
      !source.path.empty(), "which recordings? give --data a folder with {}",
      settings.corpus.source == SpeechSource::digits ? "recordings of digits" : "train.tsv and valid.tsv");
  corpus_ = open_speech(source.path, settings.corpus);
}

void SpeechTask::make_vocabularies() {
  vocabulary_ = speech_vocabulary(corpus_.at("train"));
  if (settings.frames.normalized_by == NormalizedBy::corpus)
    statistics_ = statistics_of(corpus_.at("train"), settings.frames.filterbank);
}

namespace {
constexpr const char* statistics_file = "frames.txt";
}

std::vector<std::string> SpeechTask::vocabulary_names() const {
  if (settings.frames.normalized_by == NormalizedBy::corpus) return {"vocab.txt", statistics_file};
  return {"vocab.txt"};
}

VocabularyFiles SpeechTask::vocabularies() const {
  VocabularyFiles files = files_of(*vocabulary_, "vocab.txt");
  if (statistics_) files.emplace_back(statistics_file, statistics_->to_text());
  return files;
}

void SpeechTask::set_vocabularies(const VocabularyFiles& files, const std::string& folder) {
  vocabulary_ = vocabulary_among(files, "vocab.txt", folder, settings.tokenization);
  if (settings.frames.normalized_by == NormalizedBy::corpus)
    statistics_ =
        FrameStatistics::from_text(content_among(files, statistics_file), folder + "/" + statistics_file,
                                   width_of(settings.frames.filterbank));
}

const Utterances& SpeechTask::encoded(const std::string& split, const ProgressOf& progress_of) {
  if (encoded_.contains(split)) return encoded_.at(split);
  const SpeechText& text = corpus_.at(split);
  Utterances utterances = read_utterances(text, *vocabulary_, settings.frames, statistics(),
                                          progress_of("reading " + split, std::ssize(text.utterances)));
  return encoded_.emplace(split, std::move(utterances)).first->second;
}

void SpeechTask::prepare() {
  encoded("train");
  Utterances& train = encoded_.at("train");
  left_out_ = leave_out_impossible(train, settings.frames);
  check_input(train.size() > 0,
              "{}: all utterances are too short for their transcripts: make data.stack smaller",
              corpus_.at("train").name);
  // All of them before the training, which an unreadable recording must not end; and the decoder's files.
  for (const std::string& split : measured_splits()) encoded(split);
  const Utterances& valid = encoded("valid");
  bool any_fits = false;
  for (std::size_t i = 0; i < valid.frames.size(); ++i)
    any_fits |= fits_into(valid.labels[i], steps_of(valid.frames[i].size(), settings.frames));
  check_input(any_fits, "{}: all utterances are too short for their transcripts", corpus_.at("valid").name);
  SpeechDecoder(settings.decoding, *vocabulary_);
}

std::vector<std::string> SpeechTask::notes() const {
  std::vector<std::string> notes = corpus_.notes;
  if (left_out_ > 0)
    notes.push_back(fmt::format(
        "{} training utterances have fewer steps than their transcripts need, and are left out", left_out_));
  if (!corpus_.stand_in.empty()) notes.push_back(fmt::format("these are {}", corpus_.stand_in));
  return notes;
}

void SpeechTask::assume(const std::vector<std::int64_t>& sizes) {
  constexpr std::int64_t steps = 200, characters = 50;
  const std::int64_t width = width_of(settings.frames.filterbank),
                     numbers = steps * settings.frames.stack * width;
  Utterances made;
  for (std::int64_t i = sentences_of(settings.train.batches, steps); i > 0; --i) {
    made.frames.push_back({width, std::vector<float>(static_cast<std::size_t>(numbers))});
    made.labels.push_back(some_ids(characters, sizes.at(0) - 1));
    for (std::int32_t& label : made.labels.back()) ++label;  // 0 is the blank
    made.transcripts.emplace_back("a");
  }
  vocabulary_ = some_vocabulary();
  for (const char* split : {"train", "valid"}) encoded_[split] = made;
}

std::string SpeechTask::size_text() const {
  const Utterances& train = encoded_.at("train");
  std::set<std::string> speakers;
  for (const Utterance& it : corpus_.at("train").utterances) speakers.insert(it.speaker);
  std::int64_t characters = 0, count = 0;
  for (const auto& labels : train.labels) characters += std::ssize(labels);
  for (const Frames& it : train.frames) count += it.size();
  const double minutes = static_cast<double>(count) * settings.frames.filterbank.step / 60'000;
  return fmt::format("{} utterances of {} speakers, {:.1f} minutes, {} characters, {}", train.size(),
                     speakers.size(), minutes, characters, vocabulary_text(vocabulary_->size()));
}

std::vector<std::string> SpeechTask::measured_splits() const {
  std::vector<std::string> splits;
  for (const std::string split : {"valid", "test", "speakers"})
    if (corpus_.has(split)) splits.push_back(split);
  return splits;
}

std::unique_ptr<Module> SpeechTask::make_model(const std::vector<std::int64_t>& sizes, std::uint64_t seed,
                                               Device device) const {
  return std::make_unique<CtcModel>(settings.model, width_of(settings.frames), sizes.at(0), seed, device);
}

std::unique_ptr<Objective> SpeechTask::make_objective(Module& model, std::uint64_t seed) {
  return std::make_unique<SpeechRecognition>(own(model), settings.train, settings.frames, *vocabulary_,
                                             encoded("train"), encoded("valid"), seed);
}

Scores SpeechTask::measure(Module& model, const std::string& split, const ProgressOf& progress_of) {
  const SpeechDecoder decode(settings.decoding, *vocabulary_);
  const Utterances& utterances = encoded(split, progress_of);
  Scores scores = scores_of(evaluate_recogniser(own(model), utterances, settings.frames, *vocabulary_, decode,
                                                progress_of("evaluating " + split, utterances.size())),
                            decode.text());
  if (!corpus_.stand_in.empty()) scores.details.push_back({"stand_in", corpus_.stand_in});
  return scores;
}

std::vector<SpeechTrial> SpeechTask::tune(Module& model, const ProgressOf& progress_of,
                                          const std::function<void(const SpeechTrial&)>& tried) {
  SpeechDecoder decode(settings.decoding, *vocabulary_);
  const Utterances& valid = encoded("valid", progress_of);
  const std::vector<SpeechTrial> trials =
      rondo::tune(decode, recognise(own(model), valid, settings.frames), valid, *vocabulary_, tried);
  settings.decoding.ngram_weight = best_of(trials).ngram_weight;
  settings.decoding.insertion_bonus = best_of(trials).insertion_bonus;
  return trials;
}

Probed SpeechTask::probe(Module& model, const std::string& split, const ProbeOptions& options,
                         const std::function<void(std::int64_t)>& progress) {
  return rondo::probe(own(model), encoded(split), settings.frames, options, progress);
}

std::vector<LineAnswer> SpeechTask::answer(Module& model, const std::vector<InputLine>& lines) {
  std::vector<std::string> files;
  for (const InputLine& line : lines) files.push_back(line.text);
  std::vector<LineAnswer> answers(lines.size());
  const SpeechDecoder decode(settings.decoding, *vocabulary_);
  const Recognised recognised =
      recognise(own(model), read_frames(files, settings.frames, statistics()), settings.frames);
  for (std::size_t i = 0; i < answers.size(); ++i)
    answers[i].text = vocabulary_->decode(decode(of_decoder(recognised.log_p[i])).labels);
  return answers;
}

}  // namespace rondo

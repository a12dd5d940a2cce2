// Speech recognition as a task: recordings and their transcripts, the alphabet, the recogniser, the CTC loss
// of the transcripts, and what it transcribes: the error rates of characters and words, and nats. Next:
// data/speech/utterances.h, nn/models/ctc_model.h.
#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "autograd/functions.h"
#include "autograd/operators/arithmetic.h"
#include "data/speech/utterances.h"
#include "lm/decoding/speech_decoder.h"
#include "lm/evaluation/metrics.h"
#include "lm/tasks/sentence_task.h"
#include "nn/cells/catalogue.h"
#include "nn/models/ctc_model.h"

namespace rondo {

// --- Evaluation ---

/// The frames of a batch on a device, [T, B, F].
inline Tensor frames_of(const UtteranceBatch& batch, Device device) {
  const std::vector<real> numbers(batch.frames.begin(), batch.frames.end());
  return Tensor::from(numbers, {batch.steps, batch.utterances, batch.width}, device);
}

/// -ln p(transcript | frames) of each utterance of a batch, whose scores the model has computed.
inline Variable nats_of(const UtteranceBatch& batch, const Variable& scores) {
  return ctc_loss(scores, CtcTargets(batch.labels, batch.lengths));
}

/// What SpeechDecoder reads.
inline FrameLogProbabilities of_decoder(const Tensor& log_p) {
  return {log_p.data(), log_p.rows(), log_p.columns(), log_p.row_stride()};
}

/// Calls use(i, log_p, nats) for each utterance i, in the order of the batches: log_p are the log
/// probabilities of the symbols, [T, V] on the host, of which any decoder makes a transcript; nats are
/// infinite if there are too few steps for it. Dropout is off. `progress` gets the number of utterances done.
/// Returns the seconds that it took.
template <class Use>
double recognise_each(CtcModel& model, const Utterances& utterances, const FrameOptions& frames,
                      const std::function<void(std::int64_t)>& progress, Use use) {
  return read_batches<UtteranceBatch>(
      model, UtteranceBatches({{.batch = rows_at_once, .by = BatchBy::symbols}, frames}, utterances, 1),
      progress, [&](const UtteranceBatch& batch) {
        const Variable scores = model.scores(frames_of(batch, model.device()), batch.lengths);
        const std::vector<real> nats = nats_of(batch, scores).value().to_vector();
        const Tensor log_p = transpose_first_two(log_softmax(scores)).value().to(Device::cpu);
        for (std::size_t b = 0; b < batch.indices.size(); ++b)
          use(static_cast<std::size_t>(batch.indices[b]),
              log_p[static_cast<std::int64_t>(b)].slice(0, batch.lengths[b]),
              fits_into(batch.labels[b], batch.lengths[b]) ? static_cast<double>(nats[b])
                                                           : std::numeric_limits<double>::infinity());
      });
}

/// What a recogniser says of each utterance, as recognise_each() has it.
struct Recognised {
  std::vector<Tensor> log_p;
  std::vector<double> nats;
};
inline Recognised recognise(CtcModel& model, const Utterances& utterances, const FrameOptions& frames) {
  const auto count = static_cast<std::size_t>(utterances.size());
  Recognised result{std::vector<Tensor>(count), std::vector<double>(count)};
  recognise_each(model, utterances, frames, {}, [&](std::size_t i, Tensor log_p, double nats) {
    result.log_p[i] = std::move(log_p);
    result.nats[i] = nats;
  });
  return result;
}
/// The same of recordings without a transcript (read_frames of data/speech/utterances.h).
inline Recognised recognise(CtcModel& model, const std::vector<Frames>& recordings,
                            const FrameOptions& frames) {
  const Utterances utterances{recordings, std::vector<std::vector<std::int32_t>>(recordings.size()), {}};
  return recordings.empty() ? Recognised() : recognise(model, utterances, frames);
}

struct SpeechScores {
  std::int64_t utterances = 0;
  EditCounts characters, words;
  double nats_sum = 0;
  std::int64_t scored = 0;      // characters that nats_sum counts
  std::int64_t impossible = 0;  // utterances whose loss is infinite
  double seconds = 0;

  /// Adds an utterance, and what was recognised of it.
  void add(const Utterances& all, std::size_t i, const std::string& transcript, double nats) {
    ++utterances;
    characters += character_edits(all.transcripts[i], transcript);
    words += word_edits(all.transcripts[i], transcript);
    if (nats == std::numeric_limits<double>::infinity()) {
      ++impossible;
    } else {
      nats_sum += nats;
      scored += std::ssize(all.labels[i]);
    }
  }
  /// In percent.
  double cer() const { return 100 * characters.rate(); }
  double wer() const { return 100 * words.rate(); }
  /// For each character of the transcripts, without impossible ones.
  double nats() const { return nats_sum / static_cast<double>(scored); }
};
/// The character error rate, which decides, word errors and nats. `read`: the decoder's text().
inline Scores scores_of(const SpeechScores& scores, const std::string& read) {
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

/// In the order of the utterances.
inline SpeechScores scores_of(const Recognised& recognised, const Utterances& utterances,
                              const Vocabulary& vocabulary, const SpeechDecoder& decode) {
  const auto begin = Clock::now();
  SpeechScores scores;
  for (std::size_t i = 0; i < recognised.log_p.size(); ++i)
    scores.add(utterances, i, vocabulary.decode(decode(of_decoder(recognised.log_p[i])).labels),
               recognised.nats[i]);
  scores.seconds = seconds_since(begin);
  return scores;
}

/// Recognises and decodes batch by batch. `progress` gets the number of utterances done.
inline SpeechScores evaluate_recogniser(CtcModel& model, const Utterances& utterances,
                                        const FrameOptions& frames, const Vocabulary& vocabulary,
                                        const SpeechDecoder& decode,
                                        const std::function<void(std::int64_t)>& progress = {}) {
  const auto count = static_cast<std::size_t>(utterances.size());
  std::vector<std::string> transcripts(count);
  std::vector<double> nats(count);
  SpeechScores scores;
  scores.seconds = recognise_each(model, utterances, frames, progress,
                                  [&](std::size_t i, const Tensor& log_p, double of_it) {
                                    transcripts[i] = vocabulary.decode(decode(of_decoder(log_p)).labels);
                                    nats[i] = of_it;
                                  });
  for (std::size_t i = 0; i < count; ++i) scores.add(utterances, i, transcripts[i], nats[i]);
  return scores;
}

/// The weight and the bonus of an n-gram model, and the scores with them.
struct SpeechTrial {
  double ngram_weight, insertion_bonus;
  SpeechScores scores;
};
/// The one with the fewest errors; of equal ones the first.
inline const SpeechTrial& best_of(const std::vector<SpeechTrial>& trials) {
  const auto errors = [](const SpeechTrial& it) {
    return std::pair(it.scores.words.edits(), it.scores.characters.edits());
  };
  return *std::min_element(trials.begin(), trials.end(),
                           [&](const SpeechTrial& a, const SpeechTrial& b) { return errors(a) < errors(b); });
}

/// Tries weights and bonuses of the n-gram model of `decode` on utterances, and leaves it with those that
/// have the fewest errors in words, and then in characters. `tried`, if not empty, gets each trial.
inline std::vector<SpeechTrial> tune(SpeechDecoder& decode, const Recognised& recognised,
                                     const Utterances& utterances, const Vocabulary& vocabulary,
                                     const std::function<void(const SpeechTrial&)>& tried = {}) {
  std::vector<SpeechTrial> trials;
  for (const double weight : {0.1, 0.25, 0.5, 1.0, 2.0})
    for (const double bonus : {0.0, 1.0, 2.0, 4.0}) {
      decode.weigh(weight, bonus);
      trials.push_back({weight, bonus, scores_of(recognised, utterances, vocabulary, decode)});
      if (tried) tried(trials.back());
    }
  const SpeechTrial& best = best_of(trials);
  decode.weigh(best.ngram_weight, best.insertion_bonus);
  return trials;
}

/// Which utterances have enough steps for their transcripts; the others have no loss.
inline std::vector<std::int64_t> possible(const Utterances& utterances, const FrameOptions& frames) {
  std::vector<std::int64_t> found;
  for (std::size_t i = 0; i < utterances.frames.size(); ++i)
    if (fits_into(utterances.labels[i], steps_of(utterances.frames[i].size(), frames)))
      found.push_back(static_cast<std::int64_t>(i));
  return found;
}

/// These utterances alone.
inline Utterances some_of(const Utterances& all, const std::vector<std::int64_t>& chosen) {
  Utterances some;
  for (const std::int64_t it : chosen) {
    const auto i = static_cast<std::size_t>(it);
    some.frames.push_back(all.frames[i]);
    some.labels.push_back(all.labels[i]);
    some.transcripts.push_back(all.transcripts[i]);
  }
  return some;
}

/// Probes with the loss of the whole transcript. Utterances that are too short for theirs are left out;
/// InputError if all are.
inline Probed probe(CtcModel& model, const Utterances& utterances, const FrameOptions& frames,
                    const ProbeOptions& options, const std::function<void(std::int64_t)>& progress = {}) {
  const std::vector<std::int64_t> all = possible(utterances, frames);
  check_input(!all.empty(), "all utterances are too short for their transcripts");
  std::vector<std::int64_t> chosen;
  for (const std::int64_t i : evenly(std::ssize(all), options.sequences))
    chosen.push_back(all[static_cast<std::size_t>(i)]);
  const Utterances some = some_of(utterances, chosen);
  return probe_batches<UtteranceBatch>(
      model, "the loss of the transcript", UtteranceBatches({{.batch = probed_at_once}, frames}, some, 1),
      progress, [&](const UtteranceBatch& it) {
        return sum(nats_of(it, model.scores(frames_of(it, model.device()), it.lengths)));
      });
}

// --- Objective ---

class SpeechRecognition : public SentenceObjective<CtcModel, UtteranceBatches, UtteranceBatch, Utterances> {
 public:
  /// The vocabulary must outlive it, too. Every training utterance fits its transcript. The seed determines
  /// the order of the batches. InputErrors of UtteranceBatches.
  SpeechRecognition(CtcModel& model, const SentenceBatchOptions& options, const FrameOptions& frames,
                    const Vocabulary& vocabulary, const Utterances& train, const Utterances& valid,
                    uint64_t seed = 1)
      : SentenceObjective(model, UtteranceBatches({options, frames}, train, seed), valid),
        frames_(frames),
        vocabulary_(vocabulary),
        decode_({}, vocabulary) {
    for (const auto& labels : train.labels) characters_ += std::ssize(labels);
  }

  /// The mean over the batch's utterances is minimised.
  Loss loss(int64_t /*part*/, const std::vector<Tokens>& /*indices*/, RandomContext random) override {
    begin_update(random);
    const Variable nats =
        nats_of(staged_, model_.scores(frames_of(staged_, model_.device()), staged_.lengths));
    return {sum(nats) / static_cast<real>(staged_.share.whole), {nats.value()}};
  }
  int64_t scored_per_epoch() const override { return characters_; }
  std::string scored_items() const override { return "characters"; }
  /// The character error rate of greedy decoding on the validation utterances; then word errors and nats.
  /// `progress` gets the number of utterances done.
  Scores evaluate(const std::function<void(int64_t)>& progress = {}) override {
    return scores_of(evaluate_recogniser(model_, valid_, frames_, vocabulary_, decode_, progress),
                     decode_.text());
  }

 private:
  std::string limit_of_lengths() const override { return "the longest utterances"; }
  void stage(Batch& batch) const override { batch.scored = staged_.scored; }

  const FrameOptions frames_;
  const Vocabulary& vocabulary_;
  SpeechDecoder decode_;    // the best path
  int64_t characters_ = 0;  // of the training transcripts
};

// --- The task ---

struct SpeechSettings {
  SpeechOptions corpus{};  // of section [data], as the next one
  FrameOptions frames{};
  CtcModelOptions model{};
  SentenceBatchOptions train{};
  SpeechDecodingOptions decoding{};  // of `lm transcribe`, `lm eval` and final figures
  // Not a key: transcripts are characters, and all that occur are kept.
  Tokenization tokenization{.unit = Unit::characters};
};

class SpeechTask : public TaskWith<SpeechTask, SpeechSettings, CtcModel> {
 public:
  Sections sections() override {
    return {.data = joined({keys_of(settings.corpus), keys_of(settings.frames)}),
            .model = keys_of(settings.model),
            .train = batch_keys(settings.train, "utterances; or their steps"),
            .others = section("decoding", keys_of(settings.decoding))};
  }
  void check(const std::string& where) const override {
    check_section(where, "data", settings.corpus);
    check_section(where, "data", settings.frames);
    check_section(where, "", settings.model);
    check_rows_at_once(where, traits_of(settings.model.cell).looks_across_rows, "train.batch",
                       settings.train.batch);
    check_section(where, "decoding", settings.decoding);
  }
  const std::string& cell() const override { return settings.model.cell; }
  const Tokenization& tokenization() const override { return settings.tokenization; }
  std::int64_t largest_vocabulary() const override { return 0; }
  std::string belongs_to_data() const override {
    return "its alphabet and the scale of its frames belong to its recordings";
  }
  bool predicts_text() const override { return false; }
  std::string selection_metric() const override { return "cer"; }
  std::string model_text() const override {
    const CtcModelOptions& it = settings.model;
    return fmt::format("{}{} x {} {}, CTC", it.bidirectional ? "bidirectional " : "", it.layers, it.hidden,
                       it.cell);
  }
  Usage usage() const override { return {"transcribe", "to transcribe with it", "FILE.wav"}; }

  void open(const DataSource& source) override {
    check_input(
        !source.path.empty(), "which recordings? give --data a folder with {}",
        settings.corpus.source == SpeechSource::digits ? "recordings of digits" : "train.tsv and valid.tsv");
    corpus_ = open_speech(source.path, settings.corpus);
  }
  std::vector<FileDigest> files() const override { return corpus_.files; }
  std::vector<NamedFile> named_files() override { return {{"ngram", &settings.decoding.ngram}}; }
  void make_vocabularies() override {
    vocabulary_ = speech_vocabulary(corpus_.at("train"));
    if (settings.frames.normalized_by == NormalizedBy::corpus)
      statistics_ = statistics_of(corpus_.at("train"), settings.frames.filterbank);
  }
  std::vector<std::string> vocabulary_names() const override {
    if (settings.frames.normalized_by == NormalizedBy::corpus) return {"vocab.txt", statistics_file};
    return {"vocab.txt"};
  }
  VocabularyFiles vocabularies() const override {
    VocabularyFiles files = files_of(*vocabulary_, "vocab.txt");
    if (statistics_) files.emplace_back(statistics_file, statistics_->to_text());
    return files;
  }
  void set_vocabularies(const VocabularyFiles& files, const std::string& folder) override {
    vocabulary_ = vocabulary_among(files, "vocab.txt", folder, settings.tokenization);
    if (settings.frames.normalized_by == NormalizedBy::corpus)
      statistics_ =
          FrameStatistics::from_text(content_among(files, statistics_file), folder + "/" + statistics_file,
                                     width_of(settings.frames.filterbank));
  }
  void prepare() override {
    encoded("train");
    Utterances& train = encoded_.at("train");
    const std::vector<std::int64_t> with_loss = possible(train, settings.frames);
    left_out_ = train.size() - std::ssize(with_loss);
    if (left_out_ > 0) train = some_of(train, with_loss);
    check_input(train.size() > 0,
                "{}: all utterances are too short for their transcripts: make data.stack smaller",
                corpus_.at("train").name);
    // All of them before the training, which an unreadable recording must not end; and the decoder's files.
    for (const std::string& split : measured_splits()) encoded(split);
    check_input(!possible(encoded("valid"), settings.frames).empty(),
                "{}: all utterances are too short for their transcripts", corpus_.at("valid").name);
    SpeechDecoder(settings.decoding, *vocabulary_);
  }
  std::vector<std::string> notes() const override {
    std::vector<std::string> notes = corpus_.notes;
    if (left_out_ > 0)
      notes.push_back(
          fmt::format("{} training utterances have fewer steps than their transcripts need, and are left out",
                      left_out_));
    if (!corpus_.stand_in.empty()) notes.push_back(fmt::format("these are {}", corpus_.stand_in));
    return notes;
  }
  void assume(const std::vector<std::int64_t>& sizes) override {
    constexpr std::int64_t steps = 200, characters = 50;
    const std::int64_t width = width_of(settings.frames.filterbank),
                       numbers = steps * settings.frames.stack * width;
    Utterances made;
    for (std::int64_t i = sentences_of(settings.train, steps); i > 0; --i) {
      made.frames.push_back({width, std::vector<float>(static_cast<std::size_t>(numbers), 1.0F)});
      made.labels.push_back(some_ids(characters, sizes.at(0) - 1));
      for (std::int32_t& label : made.labels.back()) ++label;  // 0 is the blank
      made.transcripts.emplace_back("a");
    }
    vocabulary_ = some_vocabulary();
    for (const char* split : {"train", "valid"}) encoded_[split] = made;
  }
  std::string size_text() const override {
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
  std::int64_t validation_size() const override { return encoded_.at("valid").size(); }
  std::vector<std::string> measured_splits() const override {
    std::vector<std::string> splits;
    for (const std::string split : {"valid", "test", "speakers"})
      if (corpus_.has(split)) splits.push_back(split);
    return splits;
  }

  std::vector<std::int64_t> sizes() const override { return {vocabulary_->size()}; }
  std::unique_ptr<Module> make_model(const std::vector<std::int64_t>& sizes, std::uint64_t seed,
                                     Device device) const override {
    return std::make_unique<CtcModel>(settings.model, width_of(settings.frames), sizes.at(0), seed, device);
  }
  std::unique_ptr<Objective> make_objective(Module& model, std::uint64_t seed) override {
    return std::make_unique<SpeechRecognition>(own(model), settings.train, settings.frames, *vocabulary_,
                                               encoded("train"), encoded("valid"), seed);
  }
  Scores measure(Module& model, const std::string& split, const ProgressOf& progress_of) override {
    const SpeechDecoder decode(settings.decoding, *vocabulary_);
    const Utterances& utterances = encoded(split, progress_of);
    Scores scores =
        scores_of(evaluate_recogniser(own(model), utterances, settings.frames, *vocabulary_, decode,
                                      progress_of("evaluating " + split, utterances.size())),
                  decode.text());
    if (!corpus_.stand_in.empty()) scores.details.push_back({"stand_in", corpus_.stand_in});
    return scores;
  }
  /// A line is the path of a recording; the answer is its transcript.
  std::vector<LineAnswer> answer(Module& model, const std::vector<InputLine>& lines) override {
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

  Probed probe(Module& model, const std::string& split, const ProbeOptions& options,
               const std::function<void(std::int64_t)>& progress) override {
    return rondo::probe(own(model), encoded(split), settings.frames, options, progress);
  }

  const Vocabulary& vocabulary() const override { return *vocabulary_; }
  std::int64_t types() const override { return vocabulary_->types() - 1; }  // no text has the blank
  /// Mean and variance of the training frames, where frames are normalized by the corpus; else null.
  const FrameStatistics* statistics() const { return statistics_ ? &*statistics_ : nullptr; }
  /// The utterances of a split, which are read once; of the training text those that the loss can learn.
  const Utterances& encoded(const std::string& split, const ProgressOf& progress_of = show_nothing) {
    if (encoded_.contains(split)) return encoded_.at(split);
    const SpeechText& text = corpus_.at(split);
    Utterances utterances = read_utterances(text, *vocabulary_, settings.frames, statistics(),
                                            progress_of("reading " + split, std::ssize(text.utterances)));
    return encoded_.emplace(split, std::move(utterances)).first->second;
  }
  /// Searches the weights of the n-gram model on the validation text, and sets them.
  std::vector<SpeechTrial> tune(Module& model, const ProgressOf& progress_of,
                                const std::function<void(const SpeechTrial&)>& tried) {
    SpeechDecoder decode(settings.decoding, *vocabulary_);
    const Utterances& valid = encoded("valid", progress_of);
    const std::vector<SpeechTrial> trials =
        rondo::tune(decode, recognise(own(model), valid, settings.frames), valid, *vocabulary_, tried);
    settings.decoding.ngram_weight = best_of(trials).ngram_weight;
    settings.decoding.insertion_bonus = best_of(trials).insertion_bonus;
    return trials;
  }

 private:
  static constexpr const char* statistics_file = "frames.txt";

  SpeechCorpus corpus_{};
  std::optional<Vocabulary> vocabulary_;
  std::optional<FrameStatistics> statistics_;
  std::map<std::string, Utterances> encoded_;
  std::int64_t left_out_ = 0;
};

}  // namespace rondo

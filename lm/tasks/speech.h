// Speech recognition as a task: recordings and their transcripts, the alphabet, the recogniser, the CTC loss
// of the transcripts, and what it transcribes: the error rates of characters and words, and nats. Next:
// data/speech/utterances.h, nn/models/ctc_model.h.
#pragma once

#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "autograd/functions.h"
#include "autograd/operators/arithmetic.h"
#include "data/speech/utterances.h"
#include "lm/decoding/prefix_search.h"
#include "lm/evaluation/metrics.h"
#include "lm/tasks/sentence_task.h"
#include "nn/models/ctc_model.h"

namespace rondo {

// --- Evaluation ---

/// The device needs no ids: labels stay on the host.
inline std::vector<std::vector<int32_t>> indices_of(const UtteranceBatch& /*batch*/) { return {}; }

/// What a model computes of the frames of a batch.
inline Variable scores_of(CtcModel& model, const UtteranceBatch& batch) {
  const std::vector<real> numbers(batch.frames.begin(), batch.frames.end());
  return model.scores(Tensor::from(numbers, {batch.steps, batch.utterances, batch.width}, model.device()),
                      batch.lengths);
}
/// -ln p(transcript | frames) of each utterance.
inline Variable nats_of(const UtteranceBatch& batch, const Variable& scores) {
  return ctc_loss(scores, CtcTargets(batch.labels, batch.lengths));
}
inline CrossEntropy nats_of(CtcModel& model, const UtteranceBatch& batch,
                            const std::vector<Tokens>& /*indices*/ = {}) {
  const Variable nats = nats_of(batch, scores_of(model, batch));
  return {sum(nats), nats.value()};
}

/// Calls use(i, log_p, nats) for each utterance i, in the order of the batches: log_p are the log
/// probabilities of the symbols, [T, V] on the host, of which any decoder makes a transcript; nats are those
/// of its transcript, infinite if it has too few steps. Dropout is off. `progress` gets the number of
/// utterances done.
template <class Use>
void recognise_each(CtcModel& model, const Utterances& utterances, const ReportDone& progress, Use use) {
  if (utterances.size() == 0) return;
  read_batches(model, UtteranceBatches({.batch = rows_at_once, .by = BatchBy::symbols}, utterances, 1),
               progress, [&](const UtteranceBatch& batch) {
                 const Variable scores = scores_of(model, batch);
                 const std::vector<real> nats = nats_of(batch, scores).value().to_vector();
                 const Tensor log_p = transpose_first_two(log_softmax(scores)).value().to(Device::cpu);
                 for (std::size_t b = 0; b < batch.indices.size(); ++b)
                   use(static_cast<std::size_t>(batch.indices[b]),
                       log_p[static_cast<std::int64_t>(b)].slice(0, batch.lengths[b]),
                       fits_into(batch.labels[b], batch.lengths[b])
                           ? static_cast<double>(nats[b])
                           : std::numeric_limits<double>::infinity());
               });
}
/// Recognises and decodes batch by batch: the error rate of characters in percent, which decides, that of
/// words, and nats for each character of the transcripts, without those that have too few steps. `progress`
/// gets the number of utterances done.
inline Scores evaluate_on(CtcModel& model, const Utterances& utterances, const SpeechDecoder& decode,
                          const ReportDone& progress) {
  const auto begin = Clock::now();
  const auto count = static_cast<std::size_t>(utterances.size());
  std::vector<std::string> transcripts(count);
  std::vector<double> nats_of_each(count);
  recognise_each(model, utterances, progress, [&](std::size_t i, const Tensor& log_p, double nats) {
    transcripts[i] = utterances.vocabulary->decode(decode(log_p).labels);
    nats_of_each[i] = nats;
  });
  EditCounts characters, words;
  double nats = 0;
  std::int64_t symbols = 0, impossible = 0;
  for (std::size_t i = 0; i < count; ++i) {
    characters += character_edits(utterances.transcripts[i], transcripts[i]);
    words += word_edits(utterances.transcripts[i], transcripts[i]);
    if (std::isinf(nats_of_each[i])) {
      ++impossible;
    } else {
      nats += nats_of_each[i];
      symbols += std::ssize(utterances.labels[i]);
    }
  }
  std::vector<Detail> details{{"utterances", utterances.size()}};
  for (const auto& [name, it] : {std::pair("character_errors", characters), {"word_errors", words}}) {
    const std::string of(name);
    details.push_back({of + ".substitutions", it.substitutions});
    details.push_back({of + ".insertions", it.insertions});
    details.push_back({of + ".deletions", it.deletions});
    details.push_back({of + ".of", it.reference});
  }
  details.push_back({"symbols", symbols});
  details.push_back({"impossible", impossible});
  return {.metrics = {{"cer", 100 * characters.rate()},
                      {"wer", 100 * words.rate()},
                      {"nats", nats / static_cast<double>(symbols)}},
          .count = characters.reference,
          .unit = "characters",
          .read = text_of(decode.options()),
          .preposition = "by",
          .seconds = seconds_since(begin),
          .details = std::move(details)};
}

/// The same with the best path.
inline Scores evaluate_on(CtcModel& model, const Utterances& utterances, const ReportDone& progress) {
  return evaluate_on(model, utterances, SpeechDecoder({}, *utterances.vocabulary), progress);
}

/// Which utterances have enough steps for their transcripts; the others have no loss.
inline std::vector<std::int64_t> possible(const Utterances& utterances) {
  std::vector<std::int64_t> found;
  for (std::int64_t i = 0; i < utterances.size(); ++i)
    if (fits_into(utterances.labels[static_cast<std::size_t>(i)], utterances.steps(i))) found.push_back(i);
  return found;
}

/// Copies these utterances.
inline Utterances some_of(const Utterances& all, const std::vector<std::int64_t>& chosen) {
  Utterances some{.options = all.options, .vocabulary = all.vocabulary, .left_out = all.left_out};
  for (const std::int64_t it : chosen) {
    const auto i = static_cast<std::size_t>(it);
    some.frames.push_back(all.frames[i]);
    some.labels.push_back(all.labels[i]);
    some.transcripts.push_back(all.transcripts[i]);
  }
  return some;
}

/// Probes with the loss of the whole transcript. Utterances that are too short for theirs are left out;
/// Throws InputError if all are.
inline Probed probe(CtcModel& model, const Utterances& utterances, const ProbeOptions& options,
                    const ReportDone& progress = {}) {
  const std::vector<std::int64_t> all = possible(utterances);
  check_input(!all.empty(), "all utterances are too short for their transcripts");
  return probe_batches(model, "the loss of the transcript",
                       UtteranceBatches({.batch = probed_at_once}, utterances, 1),
                       evenly(all, options.sequences), progress,
                       [&](const UtteranceBatch& it) { return nats_of(model, it).total; });
}

// --- Objective ---

/// Every training utterance must fit its transcript.
class SpeechRecognition : public SentenceObjective<CtcModel, UtteranceBatches> {
 public:
  using SentenceObjective::SentenceObjective;
  std::string scored_items() const override { return "characters"; }

 private:
  std::string limit_of_lengths() const override { return "the longest utterances"; }
  int64_t averaged() const override { return staged_.share.whole; }  // utterances
};

// --- The task ---

struct SpeechSettings {
  SpeechOptions corpus{};  // of section [data], as the next one
  FrameOptions frames{};
  CtcModelOptions model{};
  SentenceBatchOptions train{};
  SpeechDecodingOptions decoding{};  // of `lm transcribe`, `lm eval` and final figures
  // Not keys: transcripts are characters, and all that occur are kept.
  Tokenization tokenization{.unit = Unit::characters};
  VocabularyLimits limits{};
};

class SpeechTask
    : public SentenceTask<SpeechTask, SpeechSettings, CtcModel, SpeechCorpus, Utterances, SpeechRecognition> {
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
    SentenceTask::check(where);
    check_section(where, "decoding", settings.decoding);
  }
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
    texts_ = open_speech(source.path, settings.corpus);
  }
  std::vector<NamedFile> named_files() override { return {{"ngram", &settings.decoding.ngram}}; }
  void make_vocabularies() override {
    vocabularies_ = {speech_vocabulary(texts_.at("train"))};
    if (!further_file().empty()) statistics_ = statistics_of(texts_.at("train"), settings.frames.filterbank);
  }
  void prepare() override {
    Utterances train = encode("train");
    const std::vector<std::int64_t> with_loss = possible(train);
    if (const std::int64_t short_ones = train.size() - std::ssize(with_loss); short_ones > 0) {
      train = some_of(train, with_loss);
      texts_.notes.push_back(
          fmt::format("{} training utterances have fewer steps than their transcripts need, and are left out",
                      short_ones));
    }
    check_input(train.size() > 0,
                "{}: all utterances are too short for their transcripts: make data.stack smaller",
                texts_.at("train").name);
    encoded_.emplace_back("train", std::move(train));
    // All are read before the training, which an unreadable recording must not end; so are the decoder's
    // files.
    for (const std::string& split : measured_splits()) encoded(split);
    check_input(!possible(encoded("valid")).empty(), "{}: all utterances are too short for their transcripts",
                texts_.at("valid").name);
    SpeechDecoder(settings.decoding, vocabulary());
  }
  std::vector<std::string> notes() const override {
    std::vector<std::string> notes = texts_.notes;
    for (const auto& [split, it] : encoded_)
      if (!it.left_out.empty()) notes.push_back(fmt::format("{}: {}", split, it.left_out));
    return notes;
  }
  void assume(const Sizes& sizes) override {
    constexpr std::int64_t steps = 200, characters = 50;
    const std::int64_t width = width_of(settings.frames.filterbank),
                       numbers = steps * settings.frames.stack * width;
    vocabularies_ = {some_vocabulary()};
    Utterances made{.options = settings.frames, .vocabulary = &vocabulary()};
    for (std::int64_t i = sentences_of(settings.train, steps); i > 0; --i) {
      made.frames.push_back({width, std::vector<float>(static_cast<std::size_t>(numbers), 1.0F)});
      made.labels.push_back(some_ids(characters, sizes.at(0) - 1));
      for (std::int32_t& label : made.labels.back()) ++label;  // 0 is the blank
      made.transcripts.emplace_back("a");
    }
    set_encoded(made);
  }
  std::string size_text() const override {
    const Utterances& train = encoded("train");
    std::set<std::string> speakers;
    for (const Utterance& it : texts_.at("train").utterances) speakers.insert(it.speaker);
    std::int64_t count = 0;
    for (const Frames& it : train.frames) count += it.size();
    const double minutes = static_cast<double>(count) * settings.frames.filterbank.step / 60'000;
    return fmt::format("{} utterances of {} speakers, {:.1f} minutes, {} characters, {}", train.size(),
                       speakers.size(), minutes, train.scored(), vocabulary_text(vocabulary().size()));
  }

  std::unique_ptr<Module> make_model(const Sizes& sizes, std::uint64_t seed, Device device) const override {
    return std::make_unique<CtcModel>(settings.model, width_of(settings.frames), sizes.at(0), seed, device);
  }
  Scores measure(Module& model, const std::string& split, const ProgressOf& progress_of) override {
    const SpeechDecoder decode(settings.decoding, vocabulary());
    reading_progress_ = progress_of;
    const Utterances& utterances = encoded(split);
    reading_progress_ = show_nothing;
    Scores scores =
        evaluate_on(own(model), utterances, decode, progress_of("evaluating " + split, utterances.size()));
    scores.warning = utterances.left_out;
    if (!texts_.stand_in.empty()) scores.details.push_back({"stand_in", texts_.stand_in});
    return scores;
  }
  /// A line is the path of a recording; the answer is its transcript, and empty if it cannot be read. All are
  /// taken as those of one speaker.
  std::vector<LineAnswer> answer(Module& model, const std::vector<InputLine>& lines) override {
    SpeechText text;
    for (const InputLine& line : lines) text.utterances.push_back({line.name, "", "", {line.text}});
    std::vector<LineAnswer> answers(lines.size());
    const SpeechDecoder decode(settings.decoding, vocabulary());
    const Utterances recordings = read_utterances(text, vocabulary(), settings.frames, statistics());
    answers.front().note = recordings.left_out;
    recognise_each(own(model), recordings, {}, [&](std::size_t i, const Tensor& log_p, double) {
      const LabelHypothesis best = decode(log_p);
      LineAnswer& answer = answers[recordings.places[i]];
      answer.text = vocabulary().decode(best.labels);
      answer.score = best.log_p;
    });
    return answers;
  }

  std::int64_t types() const override { return vocabulary().types() - 1; }  // no text has the blank
  /// Mean and variance of the training frames, where frames are normalized by the corpus; else null.
  const FrameStatistics* statistics() const { return statistics_ ? &*statistics_ : nullptr; }

 private:
  std::string further_file() const override {
    return settings.frames.normalized_by == NormalizedBy::corpus ? "frames.txt" : "";
  }
  std::string further_content() const override { return statistics_->to_text(); }
  void read_further(const std::string& content, const std::string& path) override {
    statistics_ = FrameStatistics::from_text(content, path, width_of(settings.frames.filterbank));
  }
  Utterances encode(const std::string& split) const override {
    const SpeechText& of = texts_.at(split);
    return read_utterances(of, vocabulary(), settings.frames, statistics(),
                           reading_progress_("reading " + split, std::ssize(of.utterances)));
  }

  std::optional<FrameStatistics> statistics_;
  ProgressOf reading_progress_ = show_nothing;
};

}  // namespace rondo

// A corpus of speech: recordings, who speaks, and what is said. It is a folder with train.tsv, valid.tsv and
// perhaps test.tsv, which have a line for each utterance, the paths being relative to the folder:
//
//   FILE.wav<TAB>SPEAKER<TAB>TRANSCRIPT
//
// Or it is made of the recordings of single digits of the Free Spoken Digit Dataset (Jackson et al.,
// github.com/Jakobovski/free-spoken-digit-dataset), DIGIT_SPEAKER_INDEX.wav, as a stand-in for a corpus that
// needs a licence: an utterance is one to `longest` recordings of a speaker, one after the other; its
// transcript is their words. Which recordings follow each other is random, and the same for all trainings:
//
//   test      index 0 to 4, as is usual: each recording once
//   valid     index 5 to 9: each recording once
//   train     the others, each `repeats` times, in other utterances each time
//   speakers  all recordings of the speakers that are held out, which are in no other split: each once
//
// Read next: nn/models/ctc_model.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/sentences/sentence_batches.h"
#include "data/speech/features.h"

namespace rondo {

enum class SpeechSource { files, digits };
inline std::vector<std::string> names_of(SpeechSource) { return {"files", "digits"}; }

struct SpeechOptions {
  SpeechSource source = SpeechSource::files;
  std::int64_t repeats = 4, longest = 7;         // of digits
  std::vector<std::string> held_out_speakers{};  // of digits
};
/// `source`, `repeats`, `longest`, `held_out_speakers`.
Keys keys_of(SpeechOptions& options);
/// Throws InputError for settings of digits where they are not the source.
void check_options(const SpeechOptions& options);

struct Utterance {
  std::string name;  // for messages: where it is written, or its files
  std::string speaker, transcript;
  std::vector<std::string> files;  // paths; one recording after the other
};

/// The utterances of one split.
struct SpeechText {
  std::string name{};  // for messages
  std::vector<Utterance> utterances{};
};

struct SpeechCorpus {
  std::map<std::string, SpeechText, std::less<>> splits{};  // train, valid; perhaps test, speakers
  std::vector<FileDigest> files{};
  std::vector<std::string> notes{};
  std::string stand_in{};  // what to say in reports of a corpus that is one; else empty

  bool has(std::string_view split) const { return splits.contains(split); }
  const SpeechText& at(std::string_view split) const;  // InputError if there is no such split
};

/// Reads the tables, and the recordings for their digest. InputError for tables that are missing, or no text;
/// for a folder without recordings of digits, and for held-out speakers who are not there, or all.
/// Lines without three columns, without a transcript or a recording, and with a control character in the
/// transcript, are left out; InputError if all are.
SpeechCorpus open_speech(const std::filesystem::path& folder, const SpeechOptions& options);

/// The symbols of the transcripts of a training text: characters. The first symbol, of id 0, is the line end,
/// which no transcript has: it stands for the blank of CTC.
Vocabulary speech_vocabulary(const SpeechText& train);

/// Utterances as numbers.
struct Utterances {
  std::vector<Frames> frames{};                     // normalised, without deltas
  std::vector<std::vector<std::int32_t>> labels{};  // ids of the transcripts
  std::vector<std::string> transcripts{};
  FrameOptions options{};                  // of the frames
  const Vocabulary* vocabulary = nullptr;  // of the labels
  std::vector<std::size_t> places{};       // in the text, where those that cannot be read are, too
  std::string left_out{};                  // the note about these; empty: none

  std::int64_t size() const { return std::ssize(frames); }
  std::int64_t scored() const;  // labels
  std::int64_t steps(std::int64_t i) const {
    return steps_of(frames[static_cast<std::size_t>(i)].size(), options);
  }
  BatchOrder::Lengths lengths(std::int64_t i) const {
    return {steps(i), std::ssize(labels[static_cast<std::size_t>(i)])};
  }
};

/// Reads the recordings of a split. The vocabulary must outlive them. `statistics` are those of the training
/// text where frames are normalized by the corpus, else null. `progress`, if not empty, gets the number of
/// utterances read. Recordings that are shorter than a frame, and those that read_recording() refuses, are
/// left out; InputError if all are, and for a transcript with a character that is not in the vocabulary.
Utterances read_utterances(const SpeechText& text, const Vocabulary& vocabulary, const FrameOptions& options,
                           const FrameStatistics* statistics,
                           const std::function<void(std::int64_t)>& progress = {});

/// Computes the statistics of all frames of a split, before they are normalised; the same are left out.
FrameStatistics statistics_of(const SpeechText& text, const FilterbankOptions& options);

// --- Batches ---

/// T steps of B utterances, each of F numbers: element [t, b] begins at (t * B + b) * F. Padding is 0.
struct UtteranceBatch {
  BatchShare share;                                   // of the whole batch
  std::int64_t steps = 0, utterances = 0, width = 0;  // T, B, F
  std::vector<float> frames;                          // [T, B, F]
  std::vector<std::int64_t> lengths;                  // [B], in steps
  std::vector<std::vector<std::int32_t>> labels;      // of each utterance
  std::vector<std::int64_t> indices;                  // [B]: which utterances these are
  std::int64_t scored = 0;                            // labels of the whole batch
};
using UtteranceBatches = BatchesOf<Utterances, UtteranceBatch>;
void fill_batch(UtteranceBatch& batch, const Utterances& utterances, const SentenceBatchOptions& options,
                std::span<const std::int64_t> whole, const BatchOrder& order);

}  // namespace rondo

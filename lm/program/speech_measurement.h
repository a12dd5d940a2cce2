// A run whose task is speech recognition, opened for use; its measurement, by `lm eval` or at the end of a
// training, printed and stored with the run in evaluations.jsonl. The metrics:
// lm/evaluation/speech_evaluation.h.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lm/evaluation/speech_evaluation.h"
#include "lm/program/compute.h"
#include "lm/program/evaluate.h"
#include "lm/program/run_folder.h"

namespace rondo {

struct OpenRecogniser {
  RunFolder folder;
  RunConfig config;
  Vocabulary vocabulary;
  std::optional<FrameStatistics> statistics;  // where frames are normalized by the corpus
  std::unique_ptr<CtcModel> model;            // with the best weights; dropout off

  const SpeechRecipe& recipe() const { return config.recipe.speech; }
  const FrameOptions& frames() const { return recipe().data.frames; }
  const FrameStatistics* statistics_or_null() const { return statistics ? &*statistics : nullptr; }
};
/// InputError naming the file for anything missing, broken or contradicting the rest of the run, and for a
/// run of another task.
OpenRecogniser open_recogniser(const std::string& path, Device device = Device::cpu);

/// Whether the n-gram model `file` of a run is no longer the one that it was made with. InputError, with
/// advice, if it is not there.
bool has_changed(const std::string& file, const Provenance& made_by);

/// The decoder of a run with these settings. A warning if they have the run's n-gram model and that has
/// changed. InputErrors of has_changed() and of SpeechDecoder.
SpeechDecoder decoder_of(const OpenRecogniser& run, const SpeechDecodingOptions& decoding);

struct SpeechMeasurement {
  std::string run, text, split;
  std::string stand_in;  // of SpeechCorpus
  std::string read;      // how it was decoded
  SpeechScores scores;
  std::optional<SpeechTrial> tuned;  // the best weights of an n-gram model on the validation split
};

/// Appends a measurement to evaluations.jsonl, as keep() of lm/program/measurement.h does.
void keep(const RunFolder& run, const SpeechMeasurement& it, const CtcModel& model, const Compute& compute,
          const std::vector<std::string>& sha256_of_data);

/// `lm eval` of a recogniser: prints error rates and nats on stdout. Options may change [decoding], and tune
/// the weights of its n-gram model. Returns 0. InputError for options that only language models have.
int evaluate_speech(const EvaluateOptions& options);

}  // namespace rondo

// `lm transcribe`.
#include "lm/program/transcribe.h"

#include <nlohmann/json.hpp>

#include "data/text.h"
#include "lm/program/output.h"
#include "lm/program/speech_measurement.h"

namespace rondo {
namespace {

/// The default beam of a search with an n-gram model.
constexpr std::int64_t beam_with_ngram = 32;

SpeechDecodingOptions decoding_of(const TranscribeOptions& options, const OpenRecogniser& run) {
  SpeechDecodingOptions decoding = run.recipe().decoding;
  decoding.ngram = options.ngram.value_or(decoding.ngram);
  if (!decoding.ngram.empty() && decoding.beam == 1) decoding.beam = beam_with_ngram;
  decoding.beam = options.beam.value_or(decoding.beam);
  decoding.ngram_unit = options.ngram_unit.value_or(decoding.ngram_unit);
  decoding.ngram_weight = options.ngram_weight.value_or(decoding.ngram_weight);
  decoding.insertion_bonus = options.insertion_bonus.value_or(decoding.insertion_bonus);
  const bool weighs = options.ngram_unit || options.ngram_weight || options.insertion_bonus;
  check_input(
      !weighs || !decoding.ngram.empty(),
      "--ngram-unit, --ngram-weight and --insertion-bonus are for an n-gram model: give --ngram FILE");
  check_input(decoding.beam > 1 || decoding.ngram.empty(),
              "--beam 1: the n-gram model {} takes part in a search: give --beam 2 or more, or no model: {}",
              printable(decoding.ngram), options.ngram ? "leave --ngram out" : "--ngram ''");
  return decoding;
}

/// Mean and variance of the given recordings are those of the speaker, if the run asks for them.
void note_if_little(const std::vector<Frames>& recordings, const OpenRecogniser& run) {
  constexpr double enough = 5;  // seconds: a handful of words
  std::int64_t frames = 0;
  for (const Frames& it : recordings) frames += it.size();
  const double seconds = static_cast<double>(frames) * run.frames().filterbank.step / 1000;
  if (run.frames().normalized_by == NormalizedBy::speaker && seconds < enough)
    fmt::print(
        stderr,
        "lm: mean and variance of only {:.1f} s of speech normalize the frames, so words may be wrong: "
        "give more recordings of this speaker in the same call\n",
        seconds);
}

}  // namespace

int transcribe(const TranscribeOptions& options) {
  const Device device = choose_device(options.device, options.precision, options.threads).device;
  OpenRecogniser run = open_recogniser(options.run, device);
  const SpeechDecoder decode = decoder_of(run, decoding_of(options, run));
  const std::vector<Frames> recordings = read_frames(options.files, run.frames(), run.statistics_or_null());
  note_if_little(recordings, run);
  const Recognised recognised = recognise(*run.model, recordings, run.frames());
  auto list = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < recordings.size(); ++i) {
    const LabelHypothesis best = decode(of_decoder(recognised.log_p[i]));
    const std::string transcript = run.vocabulary.decode(best.labels);
    if (options.json)
      list.push_back(
          {{"file", options.files[i]}, {"transcript", transcript}, {"log_probability", best.log_p}});
    else
      fmt::print("{}\n", transcript);
  }
  if (options.json)
    print_json(nlohmann::ordered_json{{"run", options.run}, {"read", decode.text()}, {"recordings", list}});
  return 0;
}

}  // namespace rondo

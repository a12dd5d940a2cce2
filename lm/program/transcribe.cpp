// `lm transcribe`.
#include "lm/program/transcribe.h"

#include <nlohmann/json.hpp>

#include "lm/program/output.h"
#include "lm/program/speech_measurement.h"

namespace rondo {
namespace {

/// The default beam of a search with an n-gram model.
constexpr std::int64_t beam_with_ngram = 32;

SpeechDecodingOptions decoding_of(const TranscribeOptions& options, const OpenRecogniser& run) {
  SpeechDecodingOptions decoding = run.recipe().decoding;
  if (!options.ngram.empty()) {
    decoding.ngram = options.ngram;
    if (decoding.beam == 1) decoding.beam = beam_with_ngram;
  }
  decoding.beam = options.beam.value_or(decoding.beam);
  decoding.ngram_unit = options.ngram_unit.value_or(decoding.ngram_unit);
  decoding.ngram_weight = options.ngram_weight.value_or(decoding.ngram_weight);
  decoding.insertion_bonus = options.insertion_bonus.value_or(decoding.insertion_bonus);
  const bool weighs = options.ngram_unit || options.ngram_weight || options.insertion_bonus;
  check_input(
      !weighs || !decoding.ngram.empty(),
      "--ngram-unit, --ngram-weight and --insertion-bonus are for an n-gram model: give --ngram FILE");
  check_input(decoding.beam > 1 || decoding.ngram.empty(),
              "--ngram {}: it takes part in a search: give --beam 2 or more, or leave that out",
              decoding.ngram);
  return decoding;
}

}  // namespace

int transcribe(const TranscribeOptions& options) {
  const Device device = choose_device(options.device, options.precision, options.threads).device;
  OpenRecogniser run = open_recogniser(options.run, device);
  const SpeechDecoder decode(decoding_of(options, run), run.vocabulary);
  const std::vector<Frames> recordings = read_frames(options.files, run.frames(), run.statistics_or_null());
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

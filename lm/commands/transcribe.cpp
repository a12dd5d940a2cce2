// `lm transcribe`: what is said in recordings, one line each, on standard output.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "data/text/text.h"
#include "lm/commands/eval.h"
#include "lm/commands/options.h"
#include "lm/decoding/beam_search.h"
#include "lm/decoding/speech_decoder.h"
#include "lm/program/compute.h"
#include "lm/program/terminal.h"
#include "lm/tasks/speech.h"

namespace rondo {
namespace {

struct TranscribeOptions : ComputeOptions {
  std::string run;
  std::vector<std::string> files;
  std::optional<std::int64_t> beam;  // of these none: the run's
  std::optional<std::string> ngram;  // an ARPA file; an empty name: no n-gram model
  std::optional<double> ngram_weight, insertion_bonus;
  bool json = false;
};

/// The default beam of a search with an n-gram model.
constexpr std::int64_t beam_with_ngram = 32;

SpeechDecodingOptions decoding_of(const TranscribeOptions& options, SpeechDecodingOptions decoding) {
  decoding.ngram = options.ngram.value_or(decoding.ngram);
  if (!decoding.ngram.empty() && decoding.beam == 1) decoding.beam = beam_with_ngram;
  decoding.beam = options.beam.value_or(decoding.beam);
  decoding.ngram_weight = options.ngram_weight.value_or(decoding.ngram_weight);
  decoding.insertion_bonus = options.insertion_bonus.value_or(decoding.insertion_bonus);
  const bool weighs = options.ngram_weight || options.insertion_bonus;
  check_input(!weighs || !decoding.ngram.empty(),
              "--ngram-weight and --insertion-bonus are for an n-gram model: give --ngram FILE");
  check_input(decoding.beam > 1 || decoding.ngram.empty(),
              "--beam 1: the n-gram model {} takes part in a search: give --beam 2 or more, or no model: {}",
              printable(decoding.ngram), options.ngram ? "leave --ngram out" : "--ngram ''");
  return decoding;
}

/// One line for each file, in their order. Returns 0. InputErrors of open_task() and read_frames(),
/// before anything is printed.
int transcribe(const TranscribeOptions& options) {
  const Device device = choose_device(options).device;
  const OpenTask run = open_task(options.run, device);
  auto& task = run.task_as<SpeechTask>("speech");
  const FrameOptions& frames = task.settings.frames;
  task.settings.decoding = decoding_of(options, task.settings.decoding);
  warn_of_changed_files(run);
  const SpeechDecoder decode(task.settings.decoding, task.vocabulary());
  const std::vector<Frames> recordings = read_frames(options.files, frames, task.statistics());
  const Recognised recognised = recognise(dynamic_cast<CtcModel&>(*run.model), recordings, frames);
  auto list = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < recordings.size(); ++i) {
    const LabelHypothesis best = decode(recognised.log_p[i]);
    const std::string transcript = task.vocabulary().decode(best.labels);
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

}  // namespace

Command add_transcribe(CommandLine& line) {
  const auto options = std::make_shared<TranscribeOptions>();
  CLI::App& app = add_command(
      line, "transcribe", "print what is said in recordings",
      "lm transcribe runs/speech-digits-1 one.wav two.wav",
      "One line per recording, which is a WAV file with one channel, of the run's data.sample_rate. Where "
      "the run normalizes frames by speaker, all recordings are taken as those of one speaker.");
  add_run(app, "run", options->run, "the run folder");
  app.add_option("files", options->files, "recordings")->type_name("FILE.wav")->required();
  add_value(app, "--beam", options->beam, "N", integer(1, largest_beam),
            "prefixes of a search; 1: greedy (default: the run's)");
  app.add_option("--ngram", options->ngram,
                 "an n-gram model that takes part in the search; '': none (default: the run's)")
      ->type_name("FILE.arpa");
  add_value(app, "--ngram-weight", options->ngram_weight, "X", not_negative(),
            "weight of its log probability (default: the run's)");
  app.add_option("--insertion-bonus", options->insertion_bonus,
                 "nats for each of its symbols (default: the run's)")
      ->type_name("X");
  app.add_flag("--json", options->json, "print one JSON object");
  add_device(app, *options);
  return {&app, [options] { return transcribe(*options); }};
}

}  // namespace rondo

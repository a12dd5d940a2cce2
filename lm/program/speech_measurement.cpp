// A run whose task is speech recognition, and its measurement.
#include "lm/program/speech_measurement.h"

#include <nlohmann/json.hpp>

#include "data/input_file.h"
#include "data/text.h"
#include "lm/program/check_section.h"
#include "lm/program/measurement.h"
#include "lm/program/output.h"
#include "lm/program/progress.h"
#include "lm/program/run.h"
#include "lm/training/checkpoint.h"

namespace rondo {

using Json = nlohmann::ordered_json;

OpenRecogniser open_recogniser(const std::string& path, Device device) {
  RunFolder folder = open_run_folder(path);
  RunConfig config = read_config(folder);
  check_kind(folder, config, TaskKind::speech);
  const SpeechRecipe& recipe = config.recipe.speech;
  const FrameOptions& frames = recipe.data.frames;
  Vocabulary vocabulary = std::move(read_vocabularies(folder, config).front());
  std::optional<FrameStatistics> statistics;
  if (frames.normalized_by == NormalizedBy::corpus)
    statistics = FrameStatistics::from_text(read_vocabulary_file(folder.frames()), folder.frames().string(),
                                            width_of(frames.filterbank));
  auto model = std::make_unique<CtcModel>(recipe.model, width_of(frames), vocabulary.size(), 1, Device::meta);
  check_has_model(folder, *model);
  model->allocate(device);
  load_model(folder.model(), *model);
  return {std::move(folder), std::move(config), std::move(vocabulary), std::move(statistics),
          std::move(model)};
}

bool has_changed(const std::string& file, const Provenance& made_by) {
  check_input(file_is_there(file),
              "{}: the n-gram model of this run is not there: restore it; --ngram FILE of lm transcribe and "
              "--set decoding.ngram=FILE of lm eval take another one, or with an empty FILE none",
              printable(file));
  return !made_by.ngram.empty() && sha256_hex(InputFile(file)) != made_by.ngram;
}

SpeechDecoder decoder_of(const OpenRecogniser& run, const SpeechDecodingOptions& decoding) {
  const std::string& own = run.recipe().decoding.ngram;
  if (!own.empty() && decoding.ngram == own && has_changed(own, run.config.made_by))
    fmt::print(stderr, "lm: warning: {}: has changed since the run {} was made\n", printable(own),
               run.folder.path.string());
  return {decoding, run.vocabulary};
}

namespace {

/// {"substitutions", "insertions", "deletions", "of"}
Json json_of(const EditCounts& it) {
  return {{"substitutions", it.substitutions},
          {"insertions", it.insertions},
          {"deletions", it.deletions},
          {"of", it.reference}};
}

/// {"run", "text", "split", "utterances", "cer", "wer", "nats", ...}: the output of `lm eval --json`.
Json json_of(const SpeechMeasurement& it) {
  Json json{{"run", it.run}, {"text", it.text}, {"split", it.split}};
  if (!it.stand_in.empty()) json["stand_in"] = it.stand_in;
  const SpeechScores& scores = it.scores;
  json.update({{"read", it.read},
               {"utterances", scores.utterances},
               {"cer", scores.cer()},
               {"wer", scores.wer()},
               {"characters", json_of(scores.characters)},
               {"words", json_of(scores.words)},
               {"symbols", scores.scored},
               {"nats", scores.nats()},
               {"impossible", scores.impossible},
               {"seconds", scores.seconds}});
  if (it.tuned)
    json["tuned_on_valid"] = {{"ngram_weight", it.tuned->ngram_weight},
                              {"insertion_bonus", it.tuned->insertion_bonus},
                              {"wer", it.tuned->scores.wer()}};
  return json;
}

void print_text(const SpeechMeasurement& it) {
  const SpeechScores& scores = it.scores;
  fmt::print("{}: {} utterances, decoded by {}\n", it.text, scores.utterances, it.read);
  fmt::print("CER {}\n", error_rate_text(scores.characters, "characters"));
  fmt::print("WER {}\n", error_rate_text(scores.words, "words"));
  fmt::print("{:.4f} nats a character", scores.nats());
  if (scores.impossible > 0)
    fmt::print(", without {} utterances that have fewer steps than their transcripts need",
               scores.impossible);
  fmt::print("\n");
  if (!it.stand_in.empty()) fmt::print("{}\n", it.stand_in);
}

/// The decoder of an evaluation: that of the run, with the settings of the options.
SpeechDecoder decoder_of(const EvaluateOptions& options, const OpenRecogniser& run) {
  Recipe recipe = run.config.recipe;
  for (const Setting& setting : options.settings) {
    check_input(setting.key.starts_with("decoding."),
                "{}: a run is evaluated as it was trained; only settings of [decoding] can change",
                setting.where);
    apply_setting(setting, keys_of(recipe));
  }
  const SpeechDecodingOptions& decoding = recipe.speech.decoding;
  check_section(options.run, "decoding", decoding);
  check_input(!options.tune || !decoding.ngram.empty(),
              "--tune searches the weights of an n-gram model: give one, as in --set "
              "decoding.ngram=words.arpa --set decoding.beam=32");
  return decoder_of(run, decoding);
}

}  // namespace

void keep(const RunFolder& run, const SpeechMeasurement& it, const CtcModel& model, const Compute& compute,
          const std::vector<std::string>& sha256_of_data) {
  Json json = json_of(it);
  json["types"] = model.symbols() - 1;  // without the blank
  json["vocabulary_size"] = model.symbols();
  json["parameters"] = model.parameter_count();
  json["model"] = sha256_hex(InputFile(run.model()));
  append_measurement(run, std::move(json), compute, sha256_of_data);
}

int evaluate_speech(const EvaluateOptions& options) {
  EvaluateOptions others = options;
  others.tune = false;  // that is for recognisers, too
  refuse_options_of_language_models(others, "a recogniser of speech");
  const Compute compute = choose_device(options.device, options.precision, options.threads);
  OpenRecogniser run = open_recogniser(options.run, compute.device);
  SpeechDecoder decode = decoder_of(options, run);
  const std::string& folder = options.data.empty() ? run.config.made_by.data : options.data;
  const SpeechCorpus corpus = open_speech(folder, run.recipe().data.corpus);
  check_text_of_run(options.data, folder, run.config.made_by.sha256, sha256_lines(corpus.files));
  const SpeechText& text = corpus.at(options.split);
  Progress progress(stderr);
  const auto read = [&](const SpeechText& it) {
    return read_utterances(it, run.vocabulary, run.frames(), run.statistics_or_null(),
                           progress_of(progress, "reading " + it.name, std::ssize(it.utterances)));
  };
  SpeechMeasurement it{options.run, text.name, options.split, corpus.stand_in, "", {}, {}};
  if (options.tune) {
    const Utterances valid = read(corpus.at("valid"));
    const auto tried = [&](const SpeechTrial& trial) {
      progress.erase();
      if (!options.json)
        fmt::print("weight {:<5} bonus {:<3} WER {:.2f} %  CER {:.2f} %\n", trial.ngram_weight,
                   trial.insertion_bonus, trial.scores.wer(), trial.scores.cer());
    };
    it.tuned =
        best_of(tune(decode, recognise(*run.model, valid, run.frames()), valid, run.vocabulary, tried));
  }
  const Utterances utterances = read(text);
  it.read = decode.text();
  it.scores = evaluate_recogniser(*run.model, utterances, run.frames(), run.vocabulary, decode,
                                  progress_of(progress, "evaluating " + text.name, utterances.size()));
  progress.erase();
  keep_if_possible([&] { keep(run.folder, it, *run.model, compute, sha256_lines(corpus.files)); });
  if (options.json)
    print_json(json_of(it));
  else
    print_text(it);
  return 0;
}

}  // namespace rondo

// `lm probe`: what goes on inside the recurrent layers of a run's best model, as a table, as JSON and as
// pictures. What is looked at: lm/evaluation/probe.h. During a training: train.probe_every. Next:
// lm/program/probe_report.h.
#include "lm/evaluation/probe.h"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "data/files.h"
#include "lm/commands/options.h"
#include "lm/program/classification_measurement.h"
#include "lm/program/compute.h"
#include "lm/program/evaluate.h"
#include "lm/program/output.h"
#include "lm/program/output_file.h"
#include "lm/program/probe_pictures.h"
#include "lm/program/probe_report.h"
#include "lm/program/progress.h"
#include "lm/program/question_answering_measurement.h"
#include "lm/program/recipe.h"
#include "lm/program/run.h"
#include "lm/program/skip_thought_measurement.h"
#include "lm/program/speech_measurement.h"
#include "lm/program/translation_measurement.h"
#include "lm/program/translator.h"

namespace rondo {
namespace {

struct ProbeCommandOptions {
  std::vector<std::string> runs;
  std::string split = "valid";            // train, valid or test of the run's data
  std::string data;                       // where the runs' text is now; empty: not moved
  std::optional<std::int64_t> steps;      // of a language model; none: train.length
  std::optional<std::int64_t> sequences;  // none: ProbeOptions
  std::string svg;                        // a folder for pictures; empty: none
  bool json = false;
  std::optional<int> threads;
  Device device = Device::cpu;
  std::optional<Precision> precision{};  // default: fp32
};

/// Where the text of a run is.
std::string data_of(const ProbeCommandOptions& options, const Provenance& made_by) {
  return options.data.empty() ? made_by.data : options.data;
}

/// Of a model that reads whole sentences.
ProbeOptions sentences_of(const ProbeCommandOptions& options) {
  return {.sequences = options.sequences.value_or(ProbeOptions().sequences)};
}

Probed probe_language_model(const std::string& path, const ProbeCommandOptions& options, Device device,
                            const std::function<void(std::int64_t)>& progress) {
  OpenRun run = open_run(path, device);
  const std::string folder = data_of(options, run.config.made_by);
  const CorpusText corpus =
      open_text(run.config.recipe.data, folder, options.data.empty() ? Pipes::refused : Pipes::accepted);
  check_text_of_run(options.data, folder, run.config.made_by.sha256, sha256_lines(corpus.files));
  const Text& text = corpus.at(split_from_string(options.split));
  ProbeOptions how = sentences_of(options);
  how.steps = options.steps.value_or(run.config.recipe.task.batches.chunks.length);
  const TextIds ids = encode_text(text, run.vocabulary, ids_folder()).ids;
  check_input(std::ssize(ids) > how.steps,
              "{}: {} symbols are too few for a sequence of {} and the symbol after it: use fewer --steps",
              text.name, ids.size(), how.steps);
  return probe(*run.model, ids, how, progress);
}

Probed probe_classifier(const std::string& path, const ProbeCommandOptions& options, Device device,
                        const std::function<void(std::int64_t)>& progress) {
  OpenClassifier run = open_classifier(path, device);
  const LabelledTextOptions& data = run.config.recipe.classification.data;
  const std::string folder = data_of(options, run.config.made_by);
  const LabelledTexts texts = open_labelled_texts(folder, data.files, data.tokenization.unit);
  check_text_of_run(options.data, folder, run.config.made_by.sha256, sha256_lines(texts.files));
  const LabelledSentences sentences =
      encode_labelled(texts.at(split_from_string(options.split)), run.vocabulary, run.labels);
  return probe(*run.model, sentences, sentences_of(options), progress);
}

Probed probe_translator(const std::string& path, const ProbeCommandOptions& options, Device device,
                        const std::function<void(std::int64_t)>& progress) {
  const OpenTranslator run = open_translator(path, device);
  const TranslationRecipe& recipe = run.config.recipe.translation;
  check_generated_has_no_folder(recipe.data.files, options.data);
  const std::string folder = data_of(options, run.config.made_by);
  const MeasuredPairs text = pairs_of_split(run, folder, split_from_string(options.split));
  check_text_of_run(options.data, folder, run.config.made_by.sha256, text.sha256);
  const bool reversed = recipe.task.batches.reverse_source;
  return probe(*run.model, translation_text(text.pairs, run.vocabularies, reversed).pairs, reversed,
               sentences_of(options), progress);
}

Probed probe_reader(const std::string& path, const ProbeCommandOptions& options, Device device,
                    const std::function<void(std::int64_t)>& progress) {
  const OpenReader run = open_reader(path, device);
  const QuestionOptions& data = run.config.recipe.question_answering.data.questions;
  const std::string folder = data_of(options, run.config.made_by);
  const QuestionTexts texts =
      open_questions(folder, data, options.data.empty() ? Pipes::refused : Pipes::accepted);
  check_text_of_run(options.data, folder, run.config.made_by.sha256, sha256_lines(texts.files));
  const Questions questions =
      encode_questions(texts.at(split_from_string(options.split)), run.vocabulary, data.document_words);
  return probe(*run.model, questions, sentences_of(options), progress);
}

Probed probe_skip_thought(const std::string& path, const ProbeCommandOptions& options, Device device,
                          const std::function<void(std::int64_t)>& progress) {
  const OpenSkipThought run = open_skip_thought(path, device);
  const std::string folder = data_of(options, run.config.made_by);
  const CorpusText corpus = open_passages(folder, run.config.recipe.skip_thought.data,
                                          options.data.empty() ? Pipes::refused : Pipes::accepted);
  check_text_of_run(options.data, folder, run.config.made_by.sha256, sha256_lines(corpus.files));
  const Split split = split_from_string(options.split);
  const int64_t max_length =
      split == Split::train ? run.config.recipe.skip_thought.data.triples.max_length : 0;
  return probe(*run.model, triples_of(corpus.at(split), run.vocabulary, max_length), sentences_of(options),
               progress);
}

Probed probe_recogniser(const std::string& path, const ProbeCommandOptions& options, Device device,
                        const std::function<void(std::int64_t)>& progress) {
  const OpenRecogniser run = open_recogniser(path, device);
  const std::string folder = data_of(options, run.config.made_by);
  const SpeechCorpus corpus = open_speech(folder, run.recipe().data.corpus);
  check_text_of_run(options.data, folder, run.config.made_by.sha256, sha256_lines(corpus.files));
  const Utterances utterances =
      read_utterances(corpus.at(options.split), run.vocabulary, run.frames(), run.statistics_or_null());
  return probe(*run.model, utterances, run.frames(), sentences_of(options), progress);
}

Probed probe_run(const std::string& path, TaskKind kind, const ProbeCommandOptions& options, Device device,
                 const std::function<void(std::int64_t)>& progress) {
  switch (kind) {
    case TaskKind::language_modelling:
      return probe_language_model(path, options, device, progress);
    case TaskKind::classification:
      return probe_classifier(path, options, device, progress);
    case TaskKind::translation:
    case TaskKind::multi_task:
      return probe_translator(path, options, device, progress);
    case TaskKind::question_answering:
      return probe_reader(path, options, device, progress);
    case TaskKind::skip_thought:
      return probe_skip_thought(path, options, device, progress);
    case TaskKind::speech:
      return probe_recogniser(path, options, device, progress);
  }
  throw Error(fmt::format("[probe] no task {}", static_cast<int>(kind)));
}

nlohmann::ordered_json json_of(const std::vector<ProbedRun>& runs) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ProbedRun& it : runs) {
    nlohmann::ordered_json entry{{"run", it.run->path}, {"probed", it.split}};
    entry.update(json_of(it.probed));
    list.push_back(entry);
  }
  return {{"runs", list}};
}

/// Prints a table of each run on stdout. Returns 0.
int probe_runs(const ProbeCommandOptions& options) {
  if (!options.svg.empty()) check_folder_to_write("--svg", options.svg);
  const Compute compute = choose_device(options.device, options.precision, options.threads);
  std::vector<ProbedRun> runs;
  for (const std::string& path : options.runs) {
    const RunFolder folder = open_run_folder(path);
    const TaskKind kind = read_config(folder).recipe.kind;
    check_input(!options.steps || kind == TaskKind::language_modelling,
                "--steps: {} is of the task {}, which reads whole sentences; leave it out", path,
                name_of(kind));
    Progress progress(stderr);
    const auto show =
        progress_of(progress, "probing " + path, options.sequences.value_or(ProbeOptions().sequences));
    Probed probed = probe_run(path, kind, options, compute.device, show);
    runs.push_back({std::make_shared<const RunRecord>(read_log(path)), options.split, std::move(probed)});
    progress.erase();
    if (!options.json) fmt::print("{}", table_of(path, options.split, runs.back().probed));
  }
  if (options.json) print_json(json_of(runs));
  flush_output();
  if (!options.svg.empty()) write_files("--svg", options.svg, pictures_of(runs));
  return 0;
}

}  // namespace

Command add_probe(CommandLine& line) {
  const auto options = std::make_shared<ProbeCommandOptions>();
  CLI::App& app = add_command(
      line, "probe", "look into the recurrent layers of a model: gradients, activations, gates, weights",
      "lm probe runs/mi-ptb-rnn-1 runs/mi-ptb-mi-rnn-1 --svg pictures",
      "The model reads sequences of the text, each from the initial state; C is the loss of the last step "
      "alone, of a reader that of the answer, of a recogniser that of the transcript. ln |dC/dh_t|: the mean "
      "natural logarithm of the norm of its gradient with respect to the state after step t. |weight ..|: "
      "the mean norm of the product of a weight with what it multiplies at step t, no bias. Of activations "
      "and gates, s(.), the shares that are saturated. Steps of a reverse layer begin at the end. Several "
      "runs share the pictures. During a training: train.probe_every.");
  app.add_option("runs", options->runs, "run folders")->type_name("RUN");
  app.add_option("--split", options->split, "train, valid or test of the run's data")
      ->check(CLI::IsMember({"train", "valid", "test"}))
      ->type_name("NAME")
      ->capture_default_str();
  add_text(app, "--data", options->data, "DIR|FILE", "where the runs' text lies now, if it has moved");
  add_value(app, "--steps", options->steps, "N", integer(1, 100000),
            "symbols of each sequence (default: the run's train.length)");
  add_value(app, "--sequences", options->sequences, "N", integer(1),
            fmt::format("sequences or sentences, at equal distances in the text (default: {})",
                        ProbeOptions().sequences));
  add_text(app, "--svg", options->svg, "FOLDER", "a folder for pictures");
  add_device(app, *options);
  app.add_flag("--json", options->json, "print one JSON object");
  return {&app, [options, &app] {
            check_run_given(app, options->runs);
            return probe_runs(*options);
          }};
}

}  // namespace rondo

// A run whose task is classification, and its measurement.
#include "lm/program/classification_measurement.h"

#include <nlohmann/json.hpp>

#include "data/input_file.h"
#include "data/text.h"
#include "lm/program/figure_warnings.h"
#include "lm/program/measurement.h"
#include "lm/program/output.h"
#include "lm/program/progress.h"
#include "lm/program/run.h"
#include "lm/program/shell_command.h"
#include "lm/training/checkpoint.h"

namespace rondo {

using Json = nlohmann::ordered_json;

OpenClassifier open_classifier(const std::string& path, Device device) {
  RunFolder folder = open_run_folder(path);
  RunConfig config = read_config(folder);
  check_kind(folder, config, TaskKind::classification);
  const ClassificationRecipe& recipe = config.recipe.classification;
  Vocabulary vocabulary = std::move(read_vocabularies(folder, config).front());
  Labels labels = read_labels(folder);
  auto model =
      std::make_unique<SentenceClassifier>(recipe.model, vocabulary.size(), labels.size(), 1, Device::meta);
  check_has_model(folder, *model);
  model->allocate(device);
  load_model(folder.model(), *model);
  return {std::move(folder), std::move(config), std::move(vocabulary), std::move(labels), std::move(model)};
}

namespace {

/// {"run", "text", "split", "sentences", "accuracy", "nats", ...}: the output of `lm eval --json`.
Json json_of(const ClassificationMeasurement& it) {
  Json json{{"run", it.run}, {"text", it.text}};
  if (!it.split.empty()) json["split"] = it.split;
  json.update({{"read", figure_of(it.scores).read},
               {"sentences", it.scores.sentences},
               {"correct", it.scores.correct},
               {"accuracy", it.scores.accuracy()},
               {"nats", it.scores.nats()},
               {"seconds", it.scores.seconds}});
  return json;
}

/// A text to classify, and the digests of the files that it came with.
struct MeasuredSentences {
  LabelledText text;
  std::vector<std::string> sha256;
};

MeasuredSentences sentences_to_measure(const EvaluateOptions& options, const OpenClassifier& run) {
  const LabelledTextOptions& data = run.config.recipe.classification.data;
  const Unit unit = data.tokenization.unit;
  if (!options.text.empty()) {
    Text file = read_labelled_file(options.text, data.files.encoding, unit);
    for (const std::string& note : file.notes) fmt::print(stderr, "lm: {}\n", note);
    const std::vector<FileDigest> files{{file.name, file.sha256}};
    return {labelled_text(std::move(file)), sha256_lines(files)};
  }
  const std::string& folder = options.data.empty() ? run.config.made_by.data : options.data;
  const LabelledTexts texts = open_labelled_texts(folder, data.files, unit);
  std::vector<std::string> sha256 = sha256_lines(texts.files);
  check_text_of_run(options.data, folder, run.config.made_by.sha256, sha256,
                    fmt::format("; to measure another text: {} FILE", command_with({"eval", options.run})));
  return {texts.at(split_from_string(options.split)), std::move(sha256)};
}

}  // namespace

void keep(const RunFolder& run, const ClassificationMeasurement& it, const SentenceClassifier& model,
          const Compute& compute, const std::vector<std::string>& sha256_of_text) {
  Json json = json_of(it);
  json["classes"] = model.classes();
  json["types"] = it.types;
  json["vocabulary_size"] = model.vocabulary();
  json["parameters"] = model.parameter_count();
  json["model"] = sha256_hex(InputFile(run.model()));
  append_measurement(run, std::move(json), compute, sha256_of_text);
}

int evaluate_classification(const EvaluateOptions& options) {
  EvaluateOptions others = options;
  others.text.clear();  // that is for classifiers, too
  refuse_options_and_settings(others, "a classifier");
  const Compute compute = choose_device(options.device, options.precision, options.threads);
  OpenClassifier run = open_classifier(options.run, compute.device);
  const MeasuredSentences measured = sentences_to_measure(options, run);
  const LabelledText& text = measured.text;
  const LabelledSentences sentences = encode_labelled(text, run.vocabulary, run.labels);
  print_warning(warning_of_unknowns(share_of(text.sentences, sentences.sentences, run.vocabulary, false)));
  Progress progress(stderr);
  const std::string split = options.text.empty() ? options.split : "";
  ClassificationMeasurement it{options.run, text.sentences.name, split, run.vocabulary.types(), {}};
  it.scores = evaluate_classifier(*run.model, sentences,
                                  progress_of(progress, "evaluating " + it.text, sentences.size()));
  progress.erase();
  keep_if_possible([&] { keep(run.folder, it, *run.model, compute, measured.sha256); });
  if (options.json)
    print_json(json_of(it));
  else
    fmt::print("{}: accuracy {:.2f} %, {} of {} sentences; {:.4f} nats\n", it.text, it.scores.accuracy(),
               it.scores.correct, it.scores.sentences, it.scores.nats());
  return 0;
}

}  // namespace rondo

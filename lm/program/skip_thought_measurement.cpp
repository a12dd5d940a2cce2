// A run whose task is skip-thought, and its measurement.
#include "lm/program/skip_thought_measurement.h"

#include <nlohmann/json.hpp>
#include <unordered_set>

#include "data/input_file.h"
#include "data/text.h"
#include "lm/evaluation/vocabulary_expansion.h"
#include "lm/program/evaluation_report.h"
#include "lm/program/measurement.h"
#include "lm/program/output.h"
#include "lm/program/progress.h"
#include "lm/program/run.h"
#include "lm/training/checkpoint.h"

namespace rondo {

using Json = nlohmann::ordered_json;

OpenSkipThought open_skip_thought(const std::string& path, Device device) {
  RunFolder folder = open_run_folder(path);
  RunConfig config = read_config(folder);
  check_kind(folder, config, TaskKind::skip_thought);
  Vocabulary vocabulary = std::move(read_vocabularies(folder, config).front());
  auto model =
      std::make_unique<SkipThought>(config.recipe.skip_thought.model, vocabulary.size(), 1, Device::meta);
  check_has_model(folder, *model);
  model->allocate(device);
  load_model(folder.model(), *model);
  return {std::move(folder), std::move(config), std::move(vocabulary), std::move(model)};
}

std::vector<Variable> expand_vocabulary(OpenSkipThought& run, const std::string& file,
                                        const std::vector<std::pair<std::string, std::string>>& texts) {
  std::vector<std::string> missing;
  std::unordered_set<std::string> seen;
  for (const auto& [text, name] : texts)
    for (const std::string& word : run.vocabulary.encode(text, name).missing)
      if (seen.insert(word).second) missing.push_back(word);
  VocabularyExpansion expansion = expand_vocabulary(*run.model, run.vocabulary, file, missing);
  fmt::print(stderr,
             "lm: {}: vectors for {} of {} words that the run does not know, by a map from {} words\n",
             printable(file), expansion.found, expansion.asked, expansion.shared);
  run.vocabulary = std::move(expansion.vocabulary);
  return std::move(expansion.tables);
}

namespace {

/// {"run", "text", "split", "triples", "symbols", "nats", ...}: the output of `lm eval --json`.
Json json_of(const SkipThoughtMeasurement& it) {
  Json json{{"run", it.run},
            {"text", it.text},
            {"split", it.split},
            {"read", figure_of_triples(it.nats).read},
            {"triples", it.triples}};
  json.update(json_of(it.nats));
  return json;
}

}  // namespace

void keep(const RunFolder& run, const SkipThoughtMeasurement& it, const SkipThought& model,
          const Compute& compute, const std::vector<std::string>& sha256_of_text) {
  Json json = json_of(it);
  json["types"] = it.types;
  json["vocabulary_size"] = model.vocabulary();
  json["parameters"] = model.parameter_count();
  json["model"] = sha256_hex(InputFile(run.model()));
  append_measurement(run, std::move(json), compute, sha256_of_text);
}

int evaluate_skip_thought(const EvaluateOptions& options) {
  refuse_options_and_settings(options, "a model of sentences");
  const Split split = split_from_string(options.split);
  const Compute compute = choose_device(options.device, options.precision, options.threads);
  OpenSkipThought run = open_skip_thought(options.run, compute.device);
  const bool is_given = !options.data.empty();
  const std::string& data = is_given ? options.data : run.config.made_by.data;
  const CorpusText corpus =
      open_passages(data, run.config.recipe.skip_thought.data, is_given ? Pipes::accepted : Pipes::refused);
  check_text_of_run(options.data, data, run.config.made_by.sha256, sha256_lines(corpus.files));
  const Text& text = corpus.at(split);
  const Triples triples = triples_of(text, run.vocabulary);
  Progress progress(stderr);
  SkipThoughtMeasurement it{options.run,    text.name, options.split, run.vocabulary.types(),
                            triples.size(), {}};
  it.nats = evaluate_triples(*run.model, triples, run.vocabulary.unknown_id(),
                             progress_of(progress, "evaluating " + text.name, triples.size()));
  progress.erase();
  keep_if_possible([&] { keep(run.folder, it, *run.model, compute, sha256_lines(corpus.files)); });
  if (options.json) {
    print_json(json_of(it));
  } else {
    fmt::print("{}: the sentences before and after {} sentences\n", it.text, it.triples);
    print_figures("neighbours", it.nats);
  }
  return 0;
}

}  // namespace rondo

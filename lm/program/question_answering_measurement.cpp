// A run whose task is question answering, and its measurement.
#include "lm/program/question_answering_measurement.h"

#include <nlohmann/json.hpp>

#include "data/input_file.h"
#include "data/text.h"
#include "lm/program/measurement.h"
#include "lm/program/output.h"
#include "lm/program/progress.h"
#include "lm/program/run.h"
#include "lm/tasks/question_answering.h"
#include "lm/training/checkpoint.h"

namespace rondo {

using Json = nlohmann::ordered_json;

OpenReader open_reader(const std::string& path, Device device) {
  RunFolder folder = open_run_folder(path);
  RunConfig config = read_config(folder);
  check_kind(folder, config, TaskKind::question_answering);
  Vocabulary vocabulary = std::move(read_vocabularies(folder, config).front());
  auto model = std::make_unique<AttentiveReader>(config.recipe.question_answering.model, vocabulary.size(),
                                                 std::ssize(markers_of(vocabulary)), 1, Device::meta);
  check_has_model(folder, *model);
  model->allocate(device);
  load_model(folder.model(), *model);
  return {std::move(folder), std::move(config), std::move(vocabulary), std::move(model)};
}

namespace {

/// {"run", "text", "split", "questions", "accuracy", "nats", ...}: the output of `lm eval --json`.
Json json_of(const AnswerMeasurement& it) {
  return {{"run", it.run},
          {"text", it.text},
          {"split", it.split},
          {"read", figure_of(it.scores).read},
          {"generated_questions", it.generated},
          {"questions", it.scores.questions},
          {"correct", it.scores.correct},
          {"unknown_answers", it.scores.unknown},
          {"accuracy", it.scores.accuracy()},
          {"most_frequent_entity", it.baselines.most_frequent},
          {"most_frequent_entity_not_in_question", it.baselines.not_in_question},
          {"nats", it.scores.nats()},
          {"seconds", it.scores.seconds}};
}

}  // namespace

std::string baselines_text(const FrequencyBaselines& baselines) {
  return fmt::format("most frequent entity {:.2f} %, most frequent one not in the question {:.2f} %",
                     baselines.most_frequent, baselines.not_in_question);
}

void keep(const RunFolder& run, const AnswerMeasurement& it, const AttentiveReader& model,
          const Compute& compute, const std::vector<std::string>& sha256_of_text) {
  Json json = json_of(it);
  json["classes"] = model.entities();
  json["types"] = it.types;
  json["vocabulary_size"] = model.vocabulary();
  json["parameters"] = model.parameter_count();
  json["model"] = sha256_hex(InputFile(run.model()));
  append_measurement(run, std::move(json), compute, sha256_of_text);
}

int evaluate_question_answering(const EvaluateOptions& options) {
  refuse_options_and_settings(options, "a reader");
  const Split split = split_from_string(options.split);
  const Compute compute = choose_device(options.device, options.precision, options.threads);
  OpenReader run = open_reader(options.run, compute.device);
  const QuestionOptions& data = run.config.recipe.question_answering.data.questions;
  const std::string& folder = options.data.empty() ? run.config.made_by.data : options.data;
  const QuestionTexts texts =
      open_questions(folder, data, options.data.empty() ? Pipes::refused : Pipes::accepted);
  check_text_of_run(options.data, folder, run.config.made_by.sha256, sha256_lines(texts.files));
  const QuestionText& text = texts.at(split);
  const Questions questions = encode_questions(text, run.vocabulary, data.document_words);
  Progress progress(stderr);
  AnswerMeasurement it{options.run, text.name, options.split, run.vocabulary.types(), texts.generated,
                       {},          {}};
  it.scores = evaluate_reader(*run.model, questions,
                              progress_of(progress, "evaluating " + it.text, questions.size()));
  it.baselines = frequency_baselines(questions);
  progress.erase();
  keep_if_possible([&] { keep(run.folder, it, *run.model, compute, sha256_lines(texts.files)); });
  if (options.json)
    print_json(json_of(it));
  else
    fmt::print("{}: accuracy {:.2f} %, {} of {} questions{}; {:.4f} nats\n{}\n", it.text,
               it.scores.accuracy(), it.scores.correct, it.scores.questions,
               it.generated ? " made from the text" : "", it.scores.nats(), baselines_text(it.baselines));
  return 0;
}

}  // namespace rondo

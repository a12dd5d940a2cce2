// A measurement of a translator.
#include "lm/program/translation_measurement.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "data/input_file.h"
#include "data/text.h"
#include "lm/program/evaluation_report.h"
#include "lm/program/figure_warnings.h"
#include "lm/program/measurement.h"
#include "lm/program/multi_task_text.h"
#include "lm/program/output.h"
#include "lm/program/progress.h"
#include "lm/program/shell_command.h"
#include "lm/program/translator.h"
#include "lm/program/version.h"

namespace rondo {

using Json = nlohmann::ordered_json;

namespace {

/// Without scores.
TranslationMeasurement measure_nats(EncoderDecoder& model, const TranslationText& text) {
  TranslationMeasurement it;
  it.sentences = text.pairs.size();
  it.types = text.target->types();
  it.nats = evaluate_pairs(model, text);
  for (const std::string& line : text.references) it.nats.bytes += std::ssize(line) + 1;
  it.seconds = it.nats.seconds;
  return it;
}

}  // namespace

TranslationMeasurement measure(EncoderDecoder& model, const TranslationText& text, const BeamOptions& search,
                               BleuTokenization tokenization,
                               const std::function<void(std::int64_t)>& progress) {
  const auto begin = Clock::now();
  TranslationMeasurement it = measure_nats(model, text);
  it.search = search;
  const std::vector<std::string> found = translations(model, text, search, progress);
  it.empty = std::count(found.begin(), found.end(), "");
  it.scores = scores_of(found, text.references, tokenization);
  it.seconds = seconds_since(begin);
  return it;
}

Json json_of(const TranslationMeasurement& it) {
  Json json{{"run", it.run}, {"text", it.text}};
  if (!it.split.empty()) json["split"] = it.split;
  if (!it.task.empty()) json["task"] = it.task;
  json["read"] = it.scores ? search_text(it.search.beam) : Reading{.line_end = 0}.text();
  json["sentences"] = it.sentences;
  if (it.scores) {
    json["beam"] = it.search.beam;
    json["length_penalty"] = it.search.length_penalty;
    json["coverage_penalty"] = it.search.coverage_penalty;
    json["bleu"] = it.scores->bleu();
    json["chrf"] = it.scores->chrf();
    json["bleu_signature"] = bleu_signature(it.scores->bleu_options, 1, signature_version());
    json["chrf_signature"] = chrf_signature(it.scores->chrf_options, 1, signature_version());
  }
  json.update(json_of(it.nats));
  json["seconds"] = it.seconds;
  return json;
}

void keep(const RunFolder& run, const TranslationMeasurement& it, const EncoderDecoder& model,
          const Compute& compute, const std::vector<std::string>& sha256_of_text) {
  Json json = json_of(it);
  json["types"] = it.types;
  json["vocabulary_size"] = model.target_vocabulary();
  json["parameters"] = model.parameter_count();
  json["model"] = sha256_hex(InputFile(run.model()));
  append_measurement(run, std::move(json), compute, sha256_of_text);
}

namespace {

void print_text(const TranslationMeasurement& it) {
  const std::string task = it.task.empty() ? "" : fmt::format("task {}, ", it.task);
  if (!it.scores) {
    fmt::print("{}: {}{} sentences, without a source\n", it.text, task, it.sentences);
    print_figures("references", it.nats);
    return;
  }
  const TranslationScores& scores = *it.scores;
  const Bleu bleu = rondo::bleu(scores.bleu_statistics, scores.bleu_options);
  fmt::print("{}: {}{} sentences, {}\n", it.text, task, it.sentences, search_text(it.search.beam));
  fmt::print("BLEU {:.2f}  {:.1f}/{:.1f}/{:.1f}/{:.1f}  brevity penalty {:.3f}  {}\n", bleu.score,
             bleu.precisions[0], bleu.precisions[1], bleu.precisions[2], bleu.precisions[3],
             bleu.brevity_penalty, bleu_signature(scores.bleu_options, 1, signature_version()));
  fmt::print("{} {:.2f}  {}\n", chrf_name(scores.chrf_options), scores.chrf(),
             chrf_signature(scores.chrf_options, 1, signature_version()));
  print_figures("references", it.nats);
}

}  // namespace

MeasuredPairs pairs_of_split(const OpenTranslator& run, const std::string& folder, Split split) {
  const TranslationRecipe& recipe = run.config.recipe.translation;
  if (run.task) {
    const MultiTaskText text = open_multi_task_text(folder, run.config.recipe.tasks, recipe);
    return {text_of_task(text, *run.task, split), sha256_lines(text.files)};
  }
  const ParallelText text = open_parallel_text(folder, recipe.data.files, recipe.data.tokenization.unit);
  return {text.at(split), sha256_lines(text.files)};
}

namespace {

/// The languages that a run, or its task, reads and writes, each once.
std::set<std::string> languages_of(const OpenTranslator& run) {
  const ParallelOptions& files = run.config.recipe.translation.data.files;
  std::set<std::string> languages{files.source_language, files.target_language};
  languages.erase("");  // the source of a language model
  return languages;
}

/// Pairs that are not the run's: the files `prefix`.LANGUAGE, one of them for a task of one language.
MeasuredPairs pairs_of_files(const OpenTranslator& run, const std::string& prefix) {
  const ParallelTextOptions& data = run.config.recipe.translation.data;
  check_input(data.files.generated_pairs == 0,
              "{}: the text of {} is generated (data.generated_pairs), and its languages have no files",
              prefix, run.folder.path.string());
  MultiTaskText text{.languages = {}, .has_test = true, .files = {}, .notes = {}};
  for (const std::string& language : languages_of(run)) {
    const Text side = open_side(prefix, language, data.tokenization.unit);
    for (const std::string& note : side.notes) fmt::print(stderr, "lm: {}\n", note);
    text.languages[language].emplace(Split::test, side);
    text.files.push_back({side.name, side.sha256});
  }
  const auto side = [&](const std::string& language) { return text.languages.at(language).at(Split::test); };
  TextPair pairs = run.task ? text_of_task(text, *run.task, Split::test)
                            : TextPair(side(data.files.source_language), side(data.files.target_language));
  return {std::move(pairs), sha256_lines(text.files)};
}

/// The text that the options name.
MeasuredPairs pairs_to_measure(const EvaluateOptions& options, const OpenTranslator& run) {
  const ParallelOptions& files = run.config.recipe.translation.data.files;
  const std::string& folder = options.data.empty() ? run.config.made_by.data : options.data;
  if (!options.text.empty()) return pairs_of_files(run, options.text);
  check_generated_has_no_folder(files, options.data);
  MeasuredPairs text = pairs_of_split(run, folder, split_from_string(options.split));
  check_text_of_run(
      options.data, folder, run.config.made_by.sha256, text.sha256,
      fmt::format("; to measure other pairs: {} NAME, which stands for NAME.{}",
                  command_with({"eval", options.run}), fmt::join(languages_of(run), " and NAME.")));
  return text;
}

void warn_of_unknowns(const TextPair& text, const Pairs& pairs, const PairVocabularies& vocabularies,
                      bool has_source) {
  print_warning(warning_of_unknowns(share_of(text.target, pairs.target, vocabularies.target),
                                    vocabularies.target.unknown_is_trained()));
  if (has_source)
    print_warning(warning_of_unknowns(share_of(text.source, pairs.source, vocabularies.source, false)));
}

}  // namespace

int evaluate_translator(const EvaluateOptions& options) {
  EvaluateOptions others = options;
  others.text.clear();  // is for translators, too
  refuse_options_of_language_models(others, "a translator");
  const Compute compute = choose_device(options.device, options.precision, options.threads);
  OpenTranslator run = open_translator(options.run, compute.device, options.task);
  TranslationRecipe& recipe = run.config.recipe.translation;
  const bool has_source = !run.task || !run.task->source.empty();
  for (const Setting& setting : options.settings) {
    check_input(has_source, "{}: the task {} is a language model, which translates nothing", setting.where,
                options.task);
    check_input(setting.key.starts_with("decoding."),
                "{}: a run is evaluated as it was trained; only settings of [decoding] can change",
                setting.where);
    apply_setting(setting, keys_of(run.config.recipe));
  }
  const MeasuredPairs text = pairs_to_measure(options, run);
  Progress progress(stderr);
  const TranslationText pairs =
      translation_text(text.pairs, run.vocabularies, recipe.task.batches.reverse_source);
  if (!options.text.empty()) warn_of_unknowns(text.pairs, pairs.pairs, run.vocabularies, has_source);
  TranslationMeasurement it =
      has_source ? measure(*run.model, pairs, recipe.decoding, recipe.task.bleu_tokenization,
                           progress_of(progress, "translating " + text.pairs.source.name, pairs.pairs.size()))
                 : measure_nats(*run.model, pairs);
  progress.erase();
  it.run = options.run, it.text = text.pairs.target.name;
  if (options.text.empty()) it.split = options.split;
  if (run.task) it.task = run.task->name;
  keep_if_possible([&] { keep(run.folder, it, *run.model, compute, text.sha256); });
  print_warning(warning_of_empty(it.empty, it.sentences));
  if (options.json)
    print_json(json_of(it));
  else
    print_text(it);
  return 0;
}

}  // namespace rondo

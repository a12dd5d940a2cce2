// `lm eval`: the choice of the text, and warnings, on stderr. The measurement is evaluate_ids() of
// lm/evaluation/evaluation.h or evaluate_adaptively() of lm/evaluation/adaptive_evaluation.h; the output on
// stdout is in lm/program/evaluation_report.h.
#include "lm/program/evaluate.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "data/input_file.h"
#include "data/text.h"
#include "lm/program/classification_measurement.h"
#include "lm/program/evaluation_report.h"
#include "lm/program/figure_warnings.h"
#include "lm/program/model.h"
#include "lm/program/nearest.h"
#include "lm/program/paths.h"
#include "lm/program/progress.h"
#include "lm/program/published.h"
#include "lm/program/question_answering_measurement.h"
#include "lm/program/run.h"
#include "lm/program/sentence_report.h"
#include "lm/program/shell_command.h"
#include "lm/program/skip_thought_measurement.h"
#include "lm/program/speech_measurement.h"
#include "lm/program/terminal.h"
#include "lm/program/translation_measurement.h"
#include "lm/training/memory.h"
#include "tensor/available_memory.h"

namespace rondo {
namespace {

/// Refuses options that contradict each other, before anything is read.
void check_options(const EvaluateOptions& options) {
  const bool adapts = options.dynamic || options.cache;
  check_input(adapts || !options.tune,
              "--tune searches the settings of --dynamic and --cache: give one of them, or both");
  check_input(options.tune || !options.budget, "--budget is for --tune: give both, or leave it out");
  check_input(!adapts || options.streams.value_or(1) == 1,
              "--streams {}: --dynamic and --cache read one stream, in the order of the text; leave it out",
              options.streams.value_or(1));
  Recipe recipe;
  std::vector<std::string> known;
  for (const Key& key : keys_of(recipe))
    if (key.name.starts_with("dynamic.") || key.name.starts_with("cache.")) known.push_back(key.name);
  for (const Setting& setting : options.settings) {
    const std::string section = setting.key.substr(0, setting.key.find('.'));
    check_input(
        section == "dynamic" || section == "cache",
        "{}: a run is evaluated as it was trained; only settings of [dynamic] and [cache] can change{}",
        setting.where, section == setting.key ? did_you_mean(setting.key, known, "") : "");
    check_input(section == "dynamic" ? options.dynamic : options.cache, "{}: goes with --{}", setting.where,
                section);
  }
}

CorpusText corpus_of(const EvaluateOptions& options, const OpenRun& run) {
  const bool is_given = !options.data.empty();
  const std::string& data = is_given ? options.data : run.config.made_by.data;
  check_input(is_given || !data.empty(), "{}: it has no text of its own; which text? As in: {} FILE",
              options.run, command_with({"eval", options.run}));
  if (!is_given) check_text_is_there(run.config.made_by);
  CorpusText corpus = open_text(run.config.recipe.data, data, is_given ? Pipes::accepted : Pipes::refused,
                                reading_progress(stderr));
  check_text_of_run(options.data, data, run.config.made_by.sha256, sha256_lines(corpus.files),
                    fmt::format("; to measure another text: {} FILE", command_with({"eval", options.run})));
  return corpus;
}

EncodedText encoded(const Text& text, const OpenRun& run) {
  EncodedText result = encode_text(text, run.vocabulary, ids_folder());
  check_input(result.ids.size() >= 2, "{}: only {}; 2 or more are needed, the first being context", text.name,
              counted_text(std::ssize(result.ids), "symbols"));
  return result;
}

/// The best settings for the first symbols of the validation text.
Tuned tuned_on(const EncodedText& valid, OpenRun& run, const Adaptation& start, int64_t budget, bool aloud,
               Progress& progress) {
  if (aloud)
    fmt::print("searching on the validation text, from its beginning; statistics are not in the budget\n");
  Tuned tuned = tune(
      *run.model, valid.ids, start, budget,
      [&](const Trial& trial) {
        if (!aloud) return;
        progress.erase();
        print_trial(trial);
      },
      [&](int64_t done, int64_t all) { progress_of(progress, "searching", all)(done); });
  progress.erase();
  if (aloud) print_tuned(tuned, std::ssize(valid.ids) - 1);
  return tuned;
}

/// InputError if the gradient statistics of dynamic evaluation would take more memory than there is; the
/// evaluation itself takes less.
void check_dynamic_fits(const OpenRun& run, std::span<const int32_t> train_ids) {
  const DynamicOptions& dynamic = run.config.recipe.dynamic;
  const Device meta = meta_of(run.model->device());
  const auto available = available_memory(run.model->device());
  if (!available) return;
  const std::int64_t chunk = dynamic.statistics_streams * dynamic.length + 1;
  const std::int64_t wanted = measure_peak_bytes(meta, [&] {
    LanguageModel model(model_options(run.config.recipe), run.vocabulary.size(), 1, meta);
    gradient_statistics(model, train_ids.first(std::min(train_ids.size(), static_cast<size_t>(chunk))),
                        dynamic, [](int64_t) {});
  });
  check_input(
      wanted <= *available,
      "dynamic.statistics_streams = {}, dynamic.length = {}: the statistics would take about {}, and {} are "
      "available; make one of them smaller",
      dynamic.statistics_streams, dynamic.length, bytes_text(wanted), bytes_text(*available));
}

/// The settings of a measurement: those of the run and those of the options.
Measurement planned(const EvaluateOptions& options, const OpenRun& run) {
  const Recipe& recipe = run.config.recipe;
  const bool adapts = options.dynamic || options.cache;
  Measurement plan;
  plan.run = options.run;
  plan.model = sha256_hex(InputFile(run.folder.model()));
  plan.cell = cell_of(recipe);
  plan.seed = recipe.trainer.seed;
  plan.types = run.vocabulary.types();
  plan.vocabulary_size = run.vocabulary.size();
  plan.parameters = run.model->parameter_count();
  if (options.text.empty()) plan.split = options.split;
  plan.reading = final_reading(recipe, run.vocabulary.line_end_id());
  check_input(
      !adapts || !plan.reading.line_end,
      "--{}: this run reads each line from the initial state (data.batching = \"lines\"), and so nothing "
      "of the text before it is there to adapt to",
      options.dynamic ? "dynamic" : "cache");
  if (options.cache) NeuralCache::check_fits(recipe.cache.window, run.model->options().hidden.back());
  if (adapts || options.streams) plan.reading = {.streams = options.streams.value_or(1)};
  if (options.dynamic) plan.how.dynamic = recipe.dynamic;
  if (options.cache) plan.how.cache = recipe.cache;
  plan.budget = options.budget.value_or(default_tuning_budget);
  if (options.tune) check_budget(plan.how, plan.budget);
  return plan;
}

/// The paper's figure for the same kind of model, if text and reading agree; 0: none.
double published_beside(const Measurement& it, const OpenRun& run, const CorpusText& corpus) {
  const Recipe& recipe = run.config.recipe;
  const bool adapts = it.how.dynamic || it.how.cache;
  const double figure = published_figure(recipe.published, !run.config.made_by.finetuned_from.empty(),
                                         it.split, it.how.dynamic.has_value(), it.how.cache.has_value());
  if (figure == 0 || !corpus.test ||
      !changed_keys(recipe, !run.config.made_by.finetuned_from.empty()).empty() ||
      (!adapts && it.reading.text() != published_reading(recipe)))
    return 0;
  const auto test_symbols = std::ssize(encode_text(*corpus.test, run.vocabulary, ids_folder()).ids) - 1;
  return may_be_the_papers(recipe.published, run.vocabulary.types(), test_symbols) ? figure : 0;
}

/// Warnings about figures that could mislead.
void warn(const Measurement& it, const OpenRun& run) {
  if (it.how.cache && it.how.cache->lambda == 1 && std::isinf(it.result.nats()))
    fmt::print(
        stderr,
        "lm: warning: with cache.lambda = 1 what is not in the cache has probability 0, and the text has "
        "such symbols; set cache.lambda below 1\n");
  else
    print_warning(warning_of_cost(
        it.result.nats(), run.vocabulary.size(),
        it.how.dynamic ? "the updates ruin the weights; lower dynamic.learning_rate"
                       : reason_of_cost(it.result.nats(), run.vocabulary.size(), it.reading, "the option")));
  if (it.how.dynamic && it.how.dynamic->length >= it.result.symbols)
    fmt::print(
        stderr,
        "lm: warning: dynamic.length = {} is as long as the text: the weights learn nothing before it ends\n",
        it.how.dynamic->length);
}

void say_notes(const Text& text, const EncodedText& ids, const OpenRun& run) {
  for (const std::string& note : text.notes) fmt::print(stderr, "lm: {}\n", note);
  print_warning(
      warning_of_unknowns({text.name, ids.counts.unknowns, std::ssize(ids.ids)}, unknown_is_trained(run)));
}

}  // namespace

void refuse_options_of_language_models(const EvaluateOptions& options, const std::string& what) {
  const auto refused = [&](bool given, const char* flag) {
    check_input(!given, "{}: is for language models, and {} is {}", flag, options.run, what);
  };
  refused(options.dynamic, "--dynamic");
  refused(options.cache, "--cache");
  refused(options.tune, "--tune");
  refused(options.budget.has_value(), "--budget");
  refused(options.streams.has_value(), "--streams");
  check_input(options.text.empty(),
              "{}: {} is {}, which --split evaluates on the run's own text; other texts are for language "
              "models, translators and classifiers, and for {} RUN < FILE",
              options.text, options.run, what,
              command_with({command_for(read_config(open_run_folder(options.run)).recipe.kind)}));
}

void refuse_options_and_settings(const EvaluateOptions& options, const std::string& what) {
  refuse_options_of_language_models(options, what);
  for (const Setting& setting : options.settings)
    throw InputError(fmt::format(
        "{}: {} is evaluated as it was trained; --set is for language models, translators and recognisers",
        setting.where, what));
}

void check_text_of_run(const std::string& given, const std::string& data,
                       const std::vector<std::string>& sha256_of_run,
                       const std::vector<std::string>& sha256_of_text, const std::string& otherwise) {
  if (is_same_data(sha256_of_run, sha256_of_text)) return;
  check_input(given.empty(), "{}{}", not_the_text(given), otherwise);
  fmt::print(
      stderr,
      "lm: warning: {} has changed since this run was made; the figures are those of the text as it is now\n",
      name_of_text(data));
}

void keep_if_possible(const std::function<void()>& keep) {
  try {
    keep();
  } catch (const Error& error) {
    fmt::print(stderr, "lm: warning: not kept with the run: {}\n", error.what());
  }
}

int evaluate(const EvaluateOptions& options) {
  const bool is_a_split = options.text == "train" || options.text == "valid" || options.text == "test";
  check_input(!is_a_split || std::filesystem::exists(options.text),
              "{0}: no such file; the {0} text of the run's data is --split {0}", options.text);
  const TaskKind kind = read_config(open_run_folder(options.run)).recipe.kind;
  check_input(options.task.empty() || kind == TaskKind::multi_task, "--task {}: {} has one task alone, {}",
              options.task, options.run, name_of(kind));
  if (kind == TaskKind::classification) return evaluate_classification(options);
  check_input(options.sentences.empty() || kind == TaskKind::skip_thought,
              "--sentences: measures vectors of sentences, and {} is a run of the task {}", options.run,
              name_of(kind));
  check_input(options.vectors.empty() || !options.sentences.empty(),
              "--vectors: goes with --sentences FOLDER");
  if (!options.sentences.empty()) return evaluate_sentences(options);
  if (kind == TaskKind::question_answering) return evaluate_question_answering(options);
  if (kind == TaskKind::skip_thought) return evaluate_skip_thought(options);
  if (kind == TaskKind::speech) return evaluate_speech(options);
  if (kind != TaskKind::language_modelling) return evaluate_translator(options);
  check_options(options);
  const Compute compute = choose_device(options.device, options.precision, options.threads);
  OpenRun run = open_run(options.run, compute.device);
  Recipe& recipe = run.config.recipe;
  for (const Setting& setting : options.settings) apply_setting(setting, keys_of(recipe));
  Measurement measurement = planned(options, run);
  std::optional<CorpusText> corpus;
  if (options.text.empty() || options.dynamic || options.tune) corpus = corpus_of(options, run);
  const Text text = options.text.empty()
                        ? corpus->at(split_from_string(options.split))
                        : open_other_text(recipe.data, file_to_read(options.text), reading_progress(stderr));
  measurement.text = text.name;
  if (!measurement.split.empty()) measurement.published = published_beside(measurement, run, *corpus);
  measurement.published_unit = recipe.published.unit;
  const EncodedText ids = encoded(text, run);
  say_notes(text, ids, run);

  Progress progress(stderr);
  GradientStatistics statistics;
  if (options.dynamic) {
    const EncodedText train = encoded(corpus->train, run);
    check_dynamic_fits(run, train.ids);
    if (!options.json) print_statistics(recipe.dynamic, train.ids);
    statistics = gradient_statistics(
        *run.model, train.ids, recipe.dynamic,
        progress_of(progress, "statistics of the training text", std::ssize(train.ids) - 1));
    measurement.how.statistics = &statistics;
  }
  if (options.tune) {
    measurement.tuned = tuned_on(encoded(corpus->valid, run), run, measurement.how, measurement.budget,
                                 !options.json, progress);
    measurement.how = measurement.tuned->best;
  }
  if (!options.json) print_adaptation(measurement.how);
  const auto show = progress_of(progress, "evaluating " + text.name, std::ssize(ids.ids) - 1);
  const std::optional<int32_t> unknown = run.vocabulary.unknown_id();
  measurement.result = measurement.how.dynamic || measurement.how.cache
                           ? evaluate_adaptively(*run.model, ids.ids, measurement.how, unknown, show)
                           : evaluate_ids(*run.model, ids.ids, measurement.reading, unknown, show);
  measurement.result.bytes = scored_bytes(measurement.reading, ids.counts);
  progress.erase();
  keep_if_possible([&] {
    keep(run.folder, measurement, compute,
         options.text.empty() ? sha256_lines(corpus->files) : std::vector{text.sha256 + "  " + options.text});
  });
  warn(measurement, run);
  if (options.json)
    print_json(measurement);
  else
    print_text(measurement);
  return 0;
}

}  // namespace rondo

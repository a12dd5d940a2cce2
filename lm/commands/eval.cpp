// `lm eval`: how well the model of a run predicts a text, or does what its task is for; a language model also
// while it adapts to the text. The measurement: Task::measure(). What is printed:
// lm/report/evaluation_report.h.
#include <fmt/ranges.h>

#include "data/files/files.h"
#include "data/files/input_file.h"
#include "data/text/text.h"
#include "lm/commands/options.h"
#include "lm/program/cli.h"
#include "lm/program/files.h"
#include "lm/program/log.h"
#include "lm/program/recipe.h"
#include "lm/program/run.h"
#include "lm/program/terminal.h"
#include "lm/report/evaluation_report.h"
#include "lm/report/sentences.h"
#include "lm/tasks/translation.h"

namespace rondo {

// --- The measurement ---

namespace {

using Json = nlohmann::ordered_json;

struct EvaluateOptions : ComputeOptions {
  std::string run;
  std::string split = "valid";          // train, valid or test of the run's data; ignored if text is given
  std::string text;                     // a file; "-": standard input
  std::string task;                     // of a multi-task run; empty: its first one
  std::vector<std::string> sentences;   // folders with sets that vectors are measured on; empty: a split
  std::string vectors;                  // word vectors, for `sentences`; empty: none
  std::string data;                     // where the run's text is now; empty: not moved
  std::optional<std::int64_t> streams;  // none: final_reading() of lm/tasks/language_modelling.h
  bool dynamic = false, cache = false;  // adapt to the text: lm/evaluation/adaptive_evaluation.h
  std::vector<Setting> settings;        // of [dynamic], [cache] or [decoding], on top of the run's
  bool tune = false;                    // first search for settings on the validation text
  std::optional<std::int64_t> budget;   // of symbols that the search may score
  bool json = false;
};

constexpr std::int64_t default_tuning_budget = 200'000;

/// Applies settings. InputError for those that an evaluation cannot change, or that it does not use.
void apply_settings(const EvaluateOptions& options, OpenRun& run) {
  for (const Setting& setting : options.settings) {
    apply_setting(setting, keys_of(run.config.recipe));
    const std::string section = setting.key.substr(0, setting.key.find('.'));
    const bool of_dynamic = section == "dynamic", of_cache = section == "cache";
    check_input(of_dynamic || of_cache || section == "decoding",
                "{}: a run is evaluated as it was trained; only settings of [dynamic] and [cache], or of "
                "[decoding], can change",
                setting.where);
    check_input(!of_dynamic || options.dynamic, "{}: goes with --dynamic", setting.where);
    check_input(!of_cache || options.cache, "{}: goes with --cache", setting.where);
  }
  validate(run.config.recipe, options.run);
}

/// Reads the texts that the options ask for into the run's task. Returns "HEX  FILE" of what is measured.
std::vector<std::string> open_texts(const EvaluateOptions& options, const OpenRun& run, bool needs_own_text) {
  Task& task = run.task();
  const bool is_other = !options.text.empty();
  std::vector<std::string> sha256;
  if (!is_other || needs_own_text) {
    const Provenance& made_by = run.config.made_by;
    check_input(!options.data.empty() || !made_by.data.empty() || made_by.imported_from.empty(),
                "{}: it has no text of its own; which text? As in: {} FILE", options.run,
                command_with({"eval", options.run}));
    sha256 = open_text_of_run(run, options.data);
  }
  if (is_other) {
    const bool is_file = task.other_text() == "FILE";
    task.open_other(is_file ? file_to_read(options.text) : options.text,
                    {.path = {}, .progress = reading_progress(stderr)});
    print_notes(task.notes());
    sha256 = sha256_lines(task.files());
  }
  return sha256;
}

/// The name of what is measured, as in messages: a file, or a split of the run's text.
std::string name_of_measured(const EvaluateOptions& options) {
  return options.text.empty() ? options.split : options.text;
}

/// What a measurement is of: {"split": ...} of the run's own text, or {"text": ...} of another one.
Json json_of_text(const EvaluateOptions& options) {
  Json json;
  if (!options.task.empty()) json["task"] = options.task;
  json[options.text.empty() ? "split" : "text"] = name_of_measured(options);
  return json;
}

ProgressOf shown_on(Progress& progress) {
  return [&progress](const std::string& what, int64_t items) { return progress_of(progress, what, items); };
}

/// What was measured, and what is printed beside it.
struct Measured {
  Scores scores{};
  std::vector<std::string> sha256{};  // "HEX  FILE" of the text
  Json tuning{};                      // the search for settings; null: there was none
};

// --- Of a language model ---

/// The best settings for the first symbols of the validation text.
Tuned tuned_on_valid(const EvaluateOptions& options, LanguageModellingTask& task, LanguageModel& model,
                     const Adaptation& start, int64_t budget, Progress& progress) {
  const auto print = [&](const std::string& line) {
    progress.erase();
    if (!options.json) fmt::print("{}\n", line);
    flush_output();
  };
  print("searching on the validation text, from its beginning; statistics are not in the budget");
  const Tuned tuned = tune(
      model, task.encoded("valid").ids, start, budget, [&](const Trial& trial) { print(text_of(trial)); },
      [&](int64_t done, int64_t all) { progress_of(progress, "searching", all)(done); });
  print(fmt::format("{} on the first {}: {} scored in all", counted_text(std::ssize(tuned.trials), "trials"),
                    counted_text(tuned.prefix, "symbols"), tuned.symbols));
  print("best: " + options_text(tuned.best));
  return tuned;
}

Measured measure_language_model(const EvaluateOptions& options, const OpenRun& run, Progress& progress) {
  auto& task = run.task_as<LanguageModellingTask>("language_modelling");
  auto& model = dynamic_cast<LanguageModel&>(*run.model);
  const LanguageModellingSettings& settings = task.settings;
  const bool adapts = options.dynamic || options.cache;
  check_input(adapts || !options.tune,
              "--tune searches the settings of --dynamic and --cache: give one of them, or both");
  check_input(!adapts || options.streams.value_or(1) == 1,
              "--streams {}: --dynamic and --cache read one stream, in the order of the text; leave it out",
              options.streams.value_or(1));
  Reading reading = task.final_reading();
  check_input(
      !adapts || !reading.line_end,
      "--{}: this run reads each line from the initial state (data.batching = \"lines\"), and so nothing "
      "of the text before it is there to adapt to",
      options.dynamic ? "dynamic" : "cache");
  if (adapts || options.streams) reading = {.streams = options.streams.value_or(1)};
  Adaptation how;
  if (options.dynamic) how.dynamic = settings.dynamic;
  if (options.cache) how.cache = settings.cache;
  if (options.cache) NeuralCache::check_fits(settings.cache.window, model.options().hidden.back());
  const int64_t budget = options.budget.value_or(default_tuning_budget);
  if (options.tune) check_budget(how, budget);

  Measured it{.sha256 = open_texts(options, run, options.dynamic || options.tune)};
  const std::string split = options.text.empty() ? options.split : "test";
  const EncodedText& text = task.encoded(split);
  print_warning(warning_of_unknowns({name_of_measured(options), text.counts.unknowns, std::ssize(text.ids)},
                                    unknown_is_trained(run.config, task.vocabulary())));
  GradientStatistics statistics;
  if (options.dynamic) {
    const TextIds& train = task.encoded("train").ids;
    statistics =
        gradient_statistics(model, train, settings.dynamic,
                            progress_of(progress, "statistics of the training text", std::ssize(train) - 1));
    how.statistics = &statistics;
  }
  std::optional<Tuned> tuned;
  if (options.tune) {
    tuned = tuned_on_valid(options, task, model, how, budget, progress);
    how = tuned->best;
    it.tuning = json_of(*tuned, budget);
  }
  progress.erase();
  if (adapts && !options.json)
    fmt::print("adapting: {}\n", fmt::join(assignments_of(settings_of(how)), ", "));
  flush_output();
  it.scores = task.measure(model, split, reading, how, shown_on(progress));
  if (tuned) it.scores.details.push_back({"tuned_on_valid", tuned->symbols});
  it.scores.warning = warning_of_cost(it.scores.at("nats"), task.vocabulary().size());
  return it;
}

// --- Of other tasks ---

Measured measure_task(const EvaluateOptions& options, const OpenRun& run, Progress& progress) {
  Task& task = run.task();
  check_input(!options.dynamic && !options.cache && !options.budget && !options.streams && !options.tune,
              "{}: a run of the task {}, and --dynamic, --cache, --tune, --budget and --streams are for "
              "language models",
              options.run, run.config.recipe.task_name);
  if (auto* const it = dynamic_cast<TranslatingTask*>(&task))
    check_input(options.settings.empty() || it->translator(*run.model).has_source,
                "{}: this task is a language model, and settings of [decoding] are for translations",
                options.run);
  Measured it{.sha256 = open_texts(options, run, false)};
  it.scores = task.measure(*run.model, options.text.empty() ? options.split : "test", shown_on(progress));
  progress.erase();
  for (const UnknownShare& share : task.unknown_shares()) print_warning(warning_of_unknowns(share));
  return it;
}

// --- Of vectors ---

/// Calls `keep`, which stores a measurement with its run; if that fails, only warns, so that the figures are
/// printed anyway.
void keep_if_possible(const std::function<void()>& keep) {
  try {
    keep();
  } catch (const Error& error) {
    print_warning(fmt::format("not kept with the run: {}", error.what()));
  }
}

/// Measures sentence vectors on all sets, prints a line for each, and keeps it.
int evaluate_sentences(const EvaluateOptions& options, const OpenRun& run, const Compute& compute) {
  auto& task = run.task_as<SkipThoughtTask>("skip_thought");
  auto& model = dynamic_cast<SkipThought&>(*run.model);
  std::vector<Variable> tables;
  const std::vector<SentenceSet> sets = read_sentence_sets(options.sentences);
  if (!options.vectors.empty()) tables = expand_vocabulary(model, task, options.vectors, texts_of(sets));
  Json list = Json::array();
  Progress progress(stderr);
  for (const SentenceSet& set : sets) {
    const SentenceSetFigures figures = measure_sentences(
        model, task.vocabulary(), set, tables, [&](const std::string& what, std::int64_t items) {
          return progress_of(progress, fmt::format("{}: {}", set.name, what), items);
        });
    progress.erase();
    const Json json = json_of(figures);
    keep_if_possible([&] {
      Json kept = json;
      if (!options.vectors.empty()) kept["word_vectors"] = options.vectors;
      kept["model"] = sha256_hex(InputFile(run.folder.model()));
      append_measurement(run.folder, std::move(kept), compute, set.sha256);
    });
    list.push_back(json);
    if (options.json) continue;
    fmt::print("{:<5} {:>6} {}  {}  (means of words: {})\n", set.name, set.scored(),
               set.splits.front().others.empty() ? "sentences" : "pairs", text_of(figures.vectors),
               text_of(figures.word_means));
    flush_output();
  }
  if (options.json) print_json(Json{{"run", options.run}, {"sets", list}});
  return 0;
}

/// Prints scores and settings on stdout. Returns 0.
int evaluate(EvaluateOptions options) {
  const Compute compute = choose_device_for(options, options.run);
  check_input(!options.dynamic || compute.precision != Precision::int8,
              "--dynamic: weights in int8 are not trained; give --precision fp32 or bf16");
  OpenRun run = open_run(options.run, compute.device);
  if (const auto parts = run.task().parts(); options.task.empty() && !parts.empty())
    options.task = parts.front();
  if (!options.sentences.empty()) return evaluate_sentences(options, run, compute);
  if (!options.task.empty()) run.task().choose_part(options.task, "--task");
  apply_settings(options, run);
  warn_of_changed_files(run);
  const Recipe& recipe = run.config.recipe;
  Progress progress(stderr);
  const Measured it = recipe.language_modelling() ? measure_language_model(options, run, progress)
                                                  : measure_task(options, run, progress);
  progress.erase();
  keep_if_possible([&] {
    append_evaluation(run.folder, json_of_text(options), it.scores, run.task(), *run.model, compute,
                      it.sha256);
  });
  print_warning(it.scores.warning);
  if (options.json) {
    Json json{{"run", options.run}, {"cell", run.task().cell()}, {"seed", recipe.trainer.seed}};
    json.update(json_of_text(options));
    json.update(json_of(it.scores));
    if (!it.tuning.is_null()) json["tuning"] = it.tuning;
    print_json(json);
    return 0;
  }
  print_scores(name_of_measured(options), it.scores);
  return 0;
}

}  // namespace

// --- The command ---

Command add_eval(CommandLine& line) {
  const auto shared = std::make_shared<EvaluateOptions>();
  EvaluateOptions& options = *shared;
  CLI::App& app = add_command(
      line, "eval", "measure a model on a text: nats, bits, perplexity; BLEU, chrF, accuracy, error rates",
      "lm eval runs/char-lstm-1 --split test",
      "Nats are the mean of -ln p over the symbols scored, which are all but the first. Streams are pieces "
      "of the text, each from the initial state; --dynamic and --cache read one. The settings: `lm info "
      "--keys --recipe NAME`.");
  add_run(app, "run", options.run, "the run folder");
  CLI::Option* split =
      app.add_option("--split", options.split,
                     "train, valid or test of the run's data; of spoken digits also speakers")
          ->check(CLI::IsMember({"train", "valid", "test", "speakers"}))
          ->type_name("NAME")
          ->capture_default_str();
  CLI::Option* text =
      add_text(app, "text,--text", options.text, "FILE",
               "a text, or - for standard input; of a translator NAME, for NAME.SOURCE and NAME.TARGET")
          ->excludes(split);
  CLI::Option* streams =
      add_value(app, "--streams", options.streams, "N", integer(1, 1000000),
                "pieces read side by side: more is faster, 1 is exact (default: the run's settings)");
  add_text(app, "--task", options.task, "NAME", "a task of a multi-task run (default: its first)");
  CLI::Option* data =
      add_text(app, "--data", options.data, "DIR|FILE", "where the run's text lies now, if it has moved");
  CLI::Option* dynamic =
      app.add_flag("--dynamic", options.dynamic,
                   "dynamic evaluation: the weights learn from the text after it was scored");
  CLI::Option* cache =
      app.add_flag("--cache", options.cache,
                   "neural cache: symbols that followed states like the present one are more probable");
  CLI::Option* sets =
      add_settings(app, options.settings,
                   "a setting of [dynamic], [cache] or [decoding], can be repeated (default: the run's)");
  CLI::Option* tune = app.add_flag("--tune", options.tune,
                                   "first search the settings of --dynamic and --cache on the validation "
                                   "text");
  add_value(app, "--budget", options.budget, "N", integer(1),
            fmt::format("symbols that --tune may score (default: {})", default_tuning_budget))
      ->needs(tune);
  CLI::Option* sentences =
      add_list(app, "--sentences", options.sentences, "FOLDER",
               "a folder with SICK, MSRP, ... on which vectors of sentences are measured; can be repeated");
  for (CLI::Option* other : {split, text, streams, data, dynamic, cache, sets, tune})
    sentences->excludes(other);
  add_text(app, "--vectors", options.vectors, "FILE",
           "word vectors for words that the run does not know, as of lm embed")
      ->needs(sentences);
  add_device(app, options);
  app.add_flag("--json", options.json, "print one JSON object");
  return {&app, [shared] { return evaluate(*shared); }};
}

}  // namespace rondo

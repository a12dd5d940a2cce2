// `lm eval`. The measuring is evaluate_ids() of lm/evaluation.h and evaluate_adaptively() of
// lm/adaptive_evaluation.h; here stand the choice of the text, the warnings and the printing. Results go to
// stdout, everything else to stderr.
#include "lm/evaluate.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "lm/adaptive_evaluation.h"
#include "lm/evaluation.h"
#include "lm/model.h"
#include "lm/progress.h"
#include "lm/run.h"
#include "lm/tuning.h"

namespace rondo {
namespace {

using Json = nlohmann::ordered_json;

/// Refuses what contradicts itself, before anything is read.
void check_options(const EvaluateOptions& options) {
  const bool adapts = options.dynamic || options.cache;
  check_input(adapts || !options.tune,
              "--tune searches the settings of --dynamic and --cache: give one of them, or both");
  check_input(options.tune || !options.budget, "--budget is for --tune: give both, or leave it out");
  check_input(!adapts || options.streams.value_or(1) == 1,
              "--streams {}: --dynamic and --cache read one stream, in the order of the text; leave it out",
              options.streams.value_or(1));
  for (const Setting& setting : options.settings) {
    const std::string section = setting.key.substr(0, setting.key.find('.'));
    check_input(section == "dynamic" || section == "cache",
                "{}: a run is evaluated as it was trained; only settings of [dynamic] and [cache] can change",
                setting.where);
    check_input(section == "dynamic" ? options.dynamic : options.cache, "{}: goes with --{}", setting.where,
                section);
  }
}

CorpusText corpus_of(const OpenRun& run) {
  CorpusText corpus = open_text(run.config.recipe, run.config.made_by.data);
  if (sha256_lines(corpus) != run.config.made_by.sha256)
    fmt::print(
        stderr,
        "lm: warning: {} has changed since this run was made; the figures are those of the text as it is "
        "now\n",
        run.config.made_by.data);
  return corpus;
}

Encoded encoded(const Text& text, const OpenRun& run) {
  Encoded result = run.vocabulary.encode(text);
  check_input(result.ids.size() >= 2, "{}: only {} symbols; 2 or more are needed, the first being context",
              text.name, result.ids.size());
  return result;
}

/// What shows how far the reading is: "WHAT 12%". Nothing where a single chunk was all.
std::function<void(int64_t)> progress_of(Progress& progress, const std::string& what, int64_t symbols) {
  return [&progress, what, symbols](int64_t done) {
    if (done < symbols)
      progress.status(
          fmt::format("{}  {:.0f}%", what, 100.0 * static_cast<double>(done) / static_cast<double>(symbols)));
  };
}

/// What has been measured, and how.
struct Measured {
  std::string text;
  Reading reading;
  Adaptation how;
  std::optional<Tuned> tuned;
  Evaluation result;
};

Json json_of(const Recipe::Dynamic& it) {
  return {{"learning_rate", it.learning_rate},
          {"decay", it.decay},
          {"epsilon", it.epsilon},
          {"length", it.length},
          {"style", it.style},
          {"statistics_streams", it.statistics_streams}};
}
Json json_of(const Recipe::Cache& it) {
  return {{"window", it.window}, {"theta", it.theta}, {"lambda", it.lambda}};
}
Json json_of(const Adaptation& how) {
  Json json = Json::object();
  if (how.dynamic) json["dynamic"] = json_of(*how.dynamic);
  if (how.cache) json["cache"] = json_of(*how.cache);
  return json;
}
Json json_of(const Tuned& tuned, int64_t budget) {
  Json json{{"split", "valid"}, {"budget", budget}, {"scored", tuned.symbols}, {"trials", Json::array()}};
  for (const Trial& trial : tuned.trials) {
    Json entry = json_of(trial.how);
    entry["symbols"] = trial.symbols;
    entry["nats"] = trial.nats;  // null where it is infinite
    json["trials"].push_back(entry);
  }
  return json;
}

void print_json(const EvaluateOptions& options, const Measured& measured) {
  const auto& [name, reading, how, tuned, it] = measured;
  Json json{{"run", options.run}, {"text", name}};
  if (options.text.empty()) json["split"] = options.split;
  if (reading.line_end)
    json["by_lines"] = true;
  else
    json["streams"] = reading.streams;
  json.update(json_of(how));
  if (how.dynamic) {
    json["dynamic"]["statistics_symbols"] = how.statistics->symbols;
    json["dynamic"]["statistics_batches"] = how.statistics->batches;
  }
  if (tuned) json["tuning"] = json_of(*tuned, options.budget.value_or(default_tuning_budget));
  json["symbols"] = it.symbols;
  json["nats"] = it.nats();
  json["bits"] = it.bits();
  json["perplexity"] = it.perplexity();
  json["unknowns"] = it.unknowns;
  if (it.unknowns > 0 && it.unknowns < it.symbols)
    json["perplexity_without_unknowns"] = it.perplexity_without_unknowns();
  json["seconds"] = it.seconds;
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

void print_text(const Measured& measured) {
  const auto& [name, reading, how, tuned, it] = measured;
  if (reading.line_end) fmt::print("each line from a zero state, as this run was trained\n");
  if (how.dynamic) {
    const Recipe::Dynamic& dynamic = *how.dynamic;
    fmt::print(
        "dynamic evaluation: learning rate {}, decay {}, epsilon {}, style {}; the weights learn after "
        "each {} symbols\n"
        "its statistics: {} symbols of the training text in {} streams, {} batches\n",
        dynamic.learning_rate, dynamic.decay, dynamic.epsilon, dynamic.style, dynamic.length,
        how.statistics->symbols, dynamic.statistics_streams, how.statistics->batches);
  }
  if (how.cache)
    fmt::print("neural cache: window {}, theta {}, lambda {}; it grows from empty\n", how.cache->window,
               how.cache->theta, how.cache->lambda);
  if (how.dynamic || how.cache)
    fmt::print("one stream from a zero state; the first symbol is context only; means over those scored\n");
  fmt::print("{}: {} symbols scored, {} of them unknown ({:.2f}%)\n", name, it.symbols, it.unknowns,
             100.0 * static_cast<double>(it.unknowns) / static_cast<double>(it.symbols));
  fmt::print("nats        {:.4f}\nbits        {:.4f}\nperplexity  {:.2f}", it.nats(), it.bits(),
             it.perplexity());
  if (it.unknowns > 0 && it.unknowns < it.symbols)
    fmt::print(" with unknowns, {:.2f} without", it.perplexity_without_unknowns());
  fmt::print("\n");
}

void print_trial(const Trial& trial) {
  if (trial.how.cache)
    fmt::print("window {:<6} theta {:<8} lambda {:<6}", trial.how.cache->window, trial.how.cache->theta,
               trial.how.cache->lambda);
  else
    fmt::print("learning rate {:<9} decay {:<9}", trial.how.dynamic->learning_rate, trial.how.dynamic->decay);
  if (std::isfinite(trial.nats))
    fmt::print("  {:.4f} nats  perplexity {:.2f}\n", trial.nats, std::exp(trial.nats));
  else
    fmt::print("  no finite probabilities\n");
  std::fflush(stdout);
}

/// The words that give a later evaluation these settings, and which of them lie at the edge of the search.
void print_best(const Tuned& tuned) {
  const auto edge = [&](const char* key, bool of_cache, const std::function<double(const Trial&)>& value,
                        double best) {
    double least = best, most = best;
    for (const Trial& trial : tuned.trials)
      if (trial.how.cache.has_value() == of_cache) {
        least = std::min(least, value(trial));
        most = std::max(most, value(trial));
      }
    if (least < most && (best == least || best == most))
      fmt::print("{} is the {} that was tried: a further --tune from here may find better\n", key,
                 best == least ? "least" : "largest");
  };
  std::vector<std::string> words;
  if (const auto& dynamic = tuned.best.dynamic) {
    words.push_back(fmt::format("--dynamic --set dynamic.learning_rate={} --set dynamic.decay={}",
                                dynamic->learning_rate, dynamic->decay));
    edge(
        "dynamic.learning_rate", false, [](const Trial& it) { return it.how.dynamic->learning_rate; },
        dynamic->learning_rate);
    edge(
        "dynamic.decay", false, [](const Trial& it) { return it.how.dynamic->decay; }, dynamic->decay);
  }
  if (const auto& cache = tuned.best.cache) {
    words.push_back(fmt::format("--cache --set cache.window={} --set cache.theta={} --set cache.lambda={}",
                                cache->window, cache->theta, cache->lambda));
    edge(
        "cache.theta", true, [](const Trial& it) { return it.how.cache->theta; }, cache->theta);
    edge(
        "cache.window", true, [](const Trial& it) { return static_cast<double>(it.how.cache->window); },
        static_cast<double>(cache->window));
  }
  fmt::print("best: {}\n", fmt::join(words, " "));
}

Tuned tuned_on(const Encoded& valid, OpenRun& run, const EvaluateOptions& options, const Adaptation& start,
               int64_t budget, Progress& progress) {
  if (!options.json)
    fmt::print("searching on the first symbols of the validation text; statistics are not in the budget\n");
  Tuned tuned = tune(
      *run.model, valid.ids, start, budget,
      [&](const Trial& trial) {
        if (options.json) return;
        progress.erase();
        print_trial(trial);
      },
      [&](int64_t done, int64_t all) { progress_of(progress, "searching", all)(done); });
  if (options.json) return tuned;
  progress.erase();
  fmt::print("{} trials, each on the same {} symbols, {} scored in all\n", tuned.trials.size(), tuned.prefix,
             tuned.symbols);
  print_best(tuned);
  return tuned;
}

}  // namespace

int evaluate(const EvaluateOptions& options) {
  check_options(options);
  choose_device(options.device, options.threads);
  OpenRun run = open_run(options.run);
  Recipe& recipe = run.config.recipe;
  for (const Setting& setting : options.settings) apply_setting(setting, keys_of(recipe));
  Measured measured;
  measured.reading = reading_of(recipe, run.vocabulary);
  if (options.dynamic) measured.how.dynamic = recipe.dynamic;
  if (options.cache) measured.how.cache = recipe.cache;
  const bool adapts = options.dynamic || options.cache, by_lines = measured.reading.line_end.has_value();
  check_input(
      !options.streams || !by_lines,
      "--streams: this run reads each line from a zero state (data.batching = \"lines\"); leave it out");
  check_input(!adapts || !by_lines,
              "--{}: this run reads each line from a zero state (data.batching = \"lines\"), and so nothing "
              "of the text before it is there to adapt to",
              options.dynamic ? "dynamic" : "cache");
  if (options.cache) NeuralCache::check_fits(recipe.cache.window, run.model->options().hidden.back());
  measured.reading.streams = adapts ? 1 : options.streams.value_or(measured.reading.streams);

  const int64_t budget = options.budget.value_or(default_tuning_budget);
  if (options.tune) check_budget(measured.how, budget);
  std::optional<CorpusText> corpus;
  if (options.text.empty() || options.dynamic || options.tune) corpus = corpus_of(run);
  const Text text = options.text.empty() ? corpus->at(split_from_string(options.split))
                                         : read_text(options.text, unit_from_string(recipe.data.unit));
  measured.text = text.name;
  for (const std::string& note : text.notes) fmt::print(stderr, "lm: {}\n", note);
  const Encoded ids = encoded(text, run);
  if (ids.unknowns > 0 && !run.vocabulary.unknown_is_trained())
    fmt::print(
        stderr,
        "lm: warning: {} of the symbols of {} are unknown to this run, and its training text had no {}: "
        "what they cost is a guess of an untrained row\n",
        ids.unknowns, text.name, unknown_symbol);

  Progress progress(stderr);
  GradientStatistics statistics;
  if (options.dynamic) {
    const Encoded train = encoded(corpus->train, run);
    statistics = gradient_statistics(
        *run.model, train.ids, recipe.dynamic,
        progress_of(progress, "statistics of the training text", std::ssize(train.ids) - 1));
    measured.how.statistics = &statistics;
  }
  if (options.tune) {
    measured.tuned = tuned_on(encoded(corpus->valid, run), run, options, measured.how, budget, progress);
    measured.how = measured.tuned->best;
  }
  const auto show = progress_of(progress, "evaluating " + text.name, std::ssize(ids.ids) - 1);
  const std::optional<int32_t> unknown = run.vocabulary.unknown_id();
  measured.result = adapts ? evaluate_adaptively(*run.model, ids.ids, measured.how, unknown, show)
                           : evaluate_ids(*run.model, ids.ids, measured.reading, unknown, show);
  progress.erase();
  if (options.json)
    print_json(options, measured);
  else
    print_text(measured);
  return 0;
}

}  // namespace rondo

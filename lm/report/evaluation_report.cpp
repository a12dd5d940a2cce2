// Text and JSON of an evaluation.
#include "lm/report/evaluation_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "data/text/source.h"
#include "data/text/streams.h"
#include "data/text/symbols.h"
#include "lm/program/terminal.h"
#include "lm/report/run_groups.h"

namespace rondo {

// --- Warnings ---

void print_warning(const std::string& warning) {
  if (!warning.empty()) fmt::print(stderr, "lm: warning: {}\n", warning);
}

std::string share_text(const UnknownShare& it) {
  return fmt::format("{:.2f} % of the {} symbols of {} are unknown to the vocabulary, or <unk> in the text",
                     it.percent(), it.symbols, it.text);
}

std::string warning_of_unknowns(const UnknownShare& it, bool unknown_is_trained) {
  // Percent. The loss of an untrained row is some 10 nats: of one symbol in 1000 it adds 0.01 to the mean.
  constexpr double large = 10, large_untrained = 0.1;
  constexpr double large_read = 25;  // a limit of the vocabulary leaves out 10 to 15 of a classifier's text
  if (it.is_predicted && !unknown_is_trained && it.percent() >= large_untrained)
    return fmt::format(
        "{}, and {} was never trained: the figures are unreliable; a model trained with --set "
        "data.min_count=2 learns it",
        share_text(it), unknown_symbol);
  if (it.percent() <= (it.is_predicted ? large : large_read)) return "";
  return fmt::format(
      "{}, and are {}. Is the text in the language of the training text, and written like it (case, "
      "tokenization)? A model of data.unit=pieces has no unknown words",
      share_text(it),
      it.is_predicted
          ? "predicted as <unk> alone: the figures do not compare with those of other vocabularies"
          : "all read as the same symbol");
}

bool is_worse_than_uniform(double nats, std::int64_t vocabulary_size) {
  constexpr double margin = 0.1;  // nats: a new model is about as bad as that
  return !(nats <= std::log(static_cast<double>(vocabulary_size)) + margin);
}

std::string warning_of_cost(double nats, std::int64_t vocabulary_size, const std::string& reason) {
  if (!is_worse_than_uniform(nats, vocabulary_size)) return "";
  return fmt::format("giving all {} symbols the same probability costs {:.2f} nats; this costs more: {}",
                     vocabulary_size, std::log(static_cast<double>(vocabulary_size)), reason);
}

std::string reason_of_cost(double nats, std::int64_t vocabulary_size, const Reading& reading,
                           const std::string& evaluate) {
  // A state that is lost is wrong about each symbol, but only weights without bounds cost as much as this.
  constexpr double diverged = 3;  // times the nats of equal probabilities
  if (!(nats <= diverged * std::log(static_cast<double>(vocabulary_size))))
    return "the training has diverged; " + advice_after_divergence("train");
  constexpr std::int64_t many = 64;
  const std::string unlearnt =
      "the model has not learnt a text like this: too few steps, or a learning rate that is too high";
  if (!reading.carries_state() || reading.streams >= many) return unlearnt;
  return fmt::format(
      "{0}; or reading so long a text without a new start has driven the state to values from which it does "
      "not recover, as happens early in a training: if {1} --streams {2} finds much less, train with --set "
      "train.eval_streams={2} --set train.final_streams={2}",
      unlearnt, evaluate, many);
}

std::string advice_after_divergence(const std::string& section) {
  return fmt::format(
      "try a lower {}.learning_rate or stronger clipping (train.clip) in a new run (another --out): --resume "
      "changes no settings",
      section);
}

namespace {
bool are_same(const Text& one, const Text& other) {
  if (one.source && other.source) return one.source->key() == other.source->key();
  return !one.source && !other.source && one.content == other.content;
}
}  // namespace

std::string warning_of_same_texts(const CorpusText& texts) {
  const auto warning = [](const Text& one, const Text& other, std::string_view consequence) {
    return fmt::format("{} is the same text as {}: {}", one.name, other.name, consequence);
  };
  constexpr std::string_view known = "figures on it say nothing about text that the model has not seen";
  if (are_same(texts.valid, texts.train)) return warning(texts.valid, texts.train, known);
  if (!texts.test) return "";
  if (are_same(*texts.test, texts.train)) return warning(*texts.test, texts.train, known);
  if (are_same(*texts.test, texts.valid))
    return warning(*texts.test, texts.valid, "the model is chosen by it, so that figures on it are too good");
  return "";
}

// --- Evaluation report ---

namespace {

using Json = nlohmann::ordered_json;

/// The settings that a search varies.
std::vector<std::pair<std::string, double>> searched(const Adaptation& how) {
  std::vector<std::pair<std::string, double>> settings;
  if (const auto& it = how.dynamic)
    settings.insert(settings.end(),
                    {{"dynamic.learning_rate", it->learning_rate}, {"dynamic.decay", it->decay}});
  if (const auto& it = how.cache)
    settings.insert(settings.end(), {{"cache.window", static_cast<double>(it->window)},
                                     {"cache.theta", it->theta},
                                     {"cache.lambda", it->lambda}});
  return settings;
}

/// The options that give another evaluation these settings.
std::string words_of(const Adaptation& how) {
  std::vector<std::string> words;
  if (how.dynamic) words.emplace_back("--dynamic");
  if (how.cache) words.emplace_back("--cache");
  for (const auto& [key, value] : searched(how)) words.push_back(fmt::format("--set {}={}", key, value));
  return fmt::format("{}", fmt::join(words, " "));
}

Json json_of(const Adaptation& how) {
  Json json = Json::object();
  if (const auto& it = how.dynamic)
    json["dynamic"] = {{"learning_rate", it->learning_rate},
                       {"decay", it->decay},
                       {"epsilon", it->epsilon},
                       {"length", it->length},
                       {"style", name_of(it->style)},
                       {"statistics_streams", it->statistics_streams}};
  if (const auto& it = how.cache)
    json["cache"] = {{"window", it->window}, {"theta", it->theta}, {"lambda", it->lambda}};
  return json;
}

/// "0.1234", "12", "nrefs:1|case:mixed".
std::string text_of(const Detail& it) {
  return std::visit(
      [](const auto& value) {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, double>)
          return fmt::format("{:.6g}", value);
        else if constexpr (std::is_same_v<std::decay_t<decltype(value)>, bool>)
          return std::string(value ? "yes" : "no");
        else
          return fmt::format("{}", value);
      },
      it.value);
}

/// Whether a person wants to see it: members of groups and what does not hold are in JSON alone.
bool is_printed(const Detail& it) {
  const bool* const holds = std::get_if<bool>(&it.value);
  return it.name.find('.') == std::string::npos && (!holds || *holds);
}

}  // namespace

Json json_of(const Tuned& tuned, std::int64_t budget) {
  Json json{{"split", "valid"}, {"budget", budget}, {"scored", tuned.symbols}, {"trials", Json::array()}};
  json["best"] = words_of(tuned.best);
  for (const Trial& trial : tuned.trials) {
    Json entry = json_of(trial.how);
    entry["symbols"] = trial.symbols;
    entry["nats"] = trial.nats;  // null where it is infinite
    json["trials"].push_back(entry);
  }
  return json;
}

void print_scores(const std::string& text, const Scores& scores) {
  std::vector<std::pair<std::string, std::string>> lines;
  const auto add = [&](std::string name, std::string value) {
    std::replace(name.begin(), name.end(), '_', ' ');
    lines.emplace_back(std::move(name), std::move(value));
  };
  for (const auto& [name, value] : scores.metrics) {
    const ScoreStyle style = score_style(name);
    add(style.name, fmt::format("{:.{}f}", value, style.digits));
  }
  for (const Detail& it : scores.details)
    if (is_printed(it)) add(score_style(it.name).name, text_of(it));
  std::size_t width = 11;
  for (const auto& [name, value] : lines) width = std::max(width, name.size());
  fmt::print("{}: {}\n", text, scored_text(scores));
  for (const auto& [name, value] : lines) fmt::print("{:<{}} {}\n", name, width, value);
}

void print_statistics(const DynamicOptions& dynamic, std::span<const std::int32_t> training_ids) {
  const Streams streams = Streams::for_training(training_ids, dynamic.statistics_streams);
  fmt::print("statistics for dynamic evaluation: {} symbols of the training text in {} streams, {} batches\n",
             streams.scored(), streams.streams(), (streams.length() + dynamic.length - 1) / dynamic.length);
  std::fflush(stdout);
}

void print_adaptation(const Adaptation& how) {
  if (const auto& dynamic = how.dynamic)
    fmt::print(
        "dynamic evaluation: learning rate {}, decay {}, epsilon {}, style {}; the weights learn after each "
        "{} symbols\n",
        dynamic->learning_rate, dynamic->decay, dynamic->epsilon, name_of(dynamic->style), dynamic->length);
  if (how.cache)
    fmt::print("neural cache: window {}, theta {}, lambda {}; it grows from empty\n", how.cache->window,
               how.cache->theta, how.cache->lambda);
  std::fflush(stdout);
}

void print_trial(const Trial& trial) {
  if (trial.how.cache)
    fmt::print("window {:<6} theta {:<8} best lambda {:<6}", trial.how.cache->window, trial.how.cache->theta,
               trial.how.cache->lambda);
  else
    fmt::print("learning rate {:<9} decay {:<9}", trial.how.dynamic->learning_rate, trial.how.dynamic->decay);
  if (std::isfinite(trial.nats))
    fmt::print("  {:.4f} nats  perplexity {:.2f}\n", trial.nats, std::exp(trial.nats));
  else
    fmt::print("  no finite probabilities\n");
  std::fflush(stdout);
}

void print_tuned(const Tuned& tuned, std::int64_t symbols_of_text) {
  const auto readings = tuned.symbols / tuned.prefix;
  const bool is_whole = tuned.prefix == symbols_of_text;
  fmt::print("{} on {} {}, {}: {} scored in all{}\n", counted_text(std::ssize(tuned.trials), "trials"),
             is_whole ? "all" : "the first", counted_text(tuned.prefix, "symbols"),
             readings == 1 ? "1 pass" : fmt::format("{} passes", readings), tuned.symbols,
             tuned.best.cache ? " (trials of the cache share a pass)" : "");
  fmt::print("best: {}\n", words_of(tuned.best));
}

}  // namespace rondo

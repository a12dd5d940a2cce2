// Text and JSON of an evaluation.
#include "lm/report/evaluation_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <variant>

#include "data/text/source.h"
#include "data/text/symbols.h"
#include "lm/program/log.h"
#include "lm/program/terminal.h"

namespace rondo {

// --- Warnings ---

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
      "{}, and are {}", share_text(it),
      it.is_predicted
          ? "predicted as <unk> alone: the figures do not compare with those of other vocabularies"
          : "all read as the same symbol");
}

std::string warning_of_cost(double nats, std::int64_t vocabulary_size) {
  constexpr double margin = 0.1;  // nats: a new model is about as bad as that
  const double uniform = std::log(static_cast<double>(vocabulary_size));
  if (nats <= uniform + margin) return "";
  return fmt::format("giving all {} symbols the same probability costs {:.2f} nats; this costs more",
                     vocabulary_size, uniform);
}

// --- Evaluation report ---

namespace {

/// "0.1234", "12", "nrefs:1|case:mixed".
std::string text_of(const Detail& it) {
  if (std::holds_alternative<bool>(it.value)) return "yes";  // what does not hold is not printed
  if (const double* const number = std::get_if<double>(&it.value)) return fmt::format("{:.6g}", *number);
  return std::visit([](const auto& value) { return fmt::format("{}", value); }, it.value);
}

/// Whether a person wants to see it: members of groups and what does not hold are in JSON alone.
bool is_printed(const Detail& it) {
  const bool* const holds = std::get_if<bool>(&it.value);
  return it.name.find('.') == std::string::npos && (!holds || *holds);
}

}  // namespace

void print_scores(const std::string& text, const Scores& scores) {
  std::vector<std::pair<std::string, std::string>> lines;
  const auto add = [&](std::string name, std::string value) {
    std::ranges::replace(name, '_', ' ');
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
  print_line(fmt::format("{}: {}", text, scored_text(scores)));
  for (const auto& [name, value] : lines) fmt::print("{:<{}} {}\n", name, width, value);
}

std::vector<std::string> assignments_of(const std::vector<Detail>& details) {
  std::vector<std::string> texts;
  for (const Detail& it : details)
    std::visit([&](const auto& value) { texts.push_back(fmt::format("{}={}", it.name, value)); }, it.value);
  return texts;
}

std::string options_text(const Adaptation& how) {
  std::vector<std::string> words;
  if (how.dynamic) words.emplace_back("--dynamic");
  if (how.cache) words.emplace_back("--cache");
  for (const std::string& line : assignments_of(searched_settings_of(how))) words.push_back("--set " + line);
  return fmt::format("{}", fmt::join(words, " "));
}

std::string text_of(const Trial& trial) {
  return fmt::format("{}  {}", fmt::join(assignments_of(searched_settings_of(trial.how)), "  "),
                     std::isfinite(trial.nats)
                         ? fmt::format("{:.4f} nats  perplexity {:.2f}", trial.nats, std::exp(trial.nats))
                         : "no finite probabilities");
}

nlohmann::ordered_json json_of(const Tuned& tuned, std::int64_t budget) {
  nlohmann::ordered_json json{
      {"split", "valid"}, {"budget", budget}, {"scored", tuned.symbols}, {"best", options_text(tuned.best)}};
  for (const Trial& trial : tuned.trials) {
    auto entry = json_of(settings_of(trial.how));
    entry["symbols"] = tuned.prefix;
    entry["nats"] = trial.nats;  // null where it is infinite
    json["trials"].push_back(entry);
  }
  return json;
}

}  // namespace rondo

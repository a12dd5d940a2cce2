// Runs in groups, and the means of their scores.
#include "lm/report/run_groups.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "lm/program/cli.h"
#include "lm/program/recipe.h"
#include "lm/report/evaluation_report.h"
#include "tensor/error.h"

namespace rondo {

namespace {

using ShownSettings = std::map<std::string, std::string>;  // values for a reader by their keys

/// The settings that affect a run's measurements, without the seed.
ShownSettings compared_settings(const RunRecord& run) {
  ShownSettings settings;
  Recipe recipe = run.recipe();
  for (const Key& key : keys_of(recipe)) settings[key.name] = shown_value(key);
  for (const char* key :
       {"train.seed", "train.log_every", "train.probe_every", "train.save_every", "train.sentences_every",
        "train.sentence_sets", "recipe.description", "recipe.paper"})
    settings.erase(key);
  std::erase_if(settings, [&](const auto& it) {
    const std::string& key = it.first;
    return key.starts_with("published.") || key.starts_with("report.") ||
           (!run.is_finetuned() && key.starts_with("finetune."));
  });
  return settings;
}

}  // namespace

bool holds_runs(const std::filesystem::path& folder) {
  return std::filesystem::is_directory(folder) && !is_run(folder) && !runs_in(folder).empty();
}

std::pair<Runs, int> read_runs(const std::vector<std::string>& paths) {
  std::vector<std::string> folders;
  for (const std::string& path : paths) {
    if (holds_runs(path))
      for (const std::filesystem::path& run : runs_in(path)) folders.push_back(run.string());
    else if (paths.size() == 1 || !std::filesystem::is_regular_file(path))
      folders.push_back(path);
  }
  Runs runs;
  int status = 0;
  for (const std::string& folder : folders) try {
      runs.push_back(std::make_shared<const RunRecord>(read_run(folder)));
    } catch (const InputError&) {
      status = report_failure();
    }
  return {std::move(runs), status};
}

std::vector<Runs> grouped(const Runs& runs) {
  std::vector<Runs> groups;
  std::vector<std::string> identities;  // of the groups
  for (const auto& run : runs) {
    const Provenance& made_by = run->config.made_by;
    const std::string identity =
        fmt::format("{} {} {} {} {} {} {}", compared_settings(*run), run->is_finetuned(),
                    made_by.initialized_from, run->vocabulary_size, name_of(made_by.device),
                    name_of(made_by.precision), digests_of(made_by.sha256));
    const auto admits = [&](const Runs& group) {
      return std::ranges::none_of(group, [&](const auto& it) {
        return !it->finished || !run->finished || it->recipe().trainer.seed == run->recipe().trainer.seed;
      });
    };
    std::size_t at = 0;
    while (at < groups.size() && (identities[at] != identity || !admits(groups[at]))) ++at;
    if (at == groups.size()) identities.push_back(identity), groups.emplace_back();
    groups[at].push_back(run);
  }
  return groups;
}

std::vector<std::string> differing_keys(const Runs& runs) {
  const ShownSettings first = compared_settings(*runs.front());
  std::set<std::string> differing;
  for (const auto& run : runs) {
    const ShownSettings its = compared_settings(*run);
    std::vector<ShownSettings::value_type> different;
    std::set_symmetric_difference(first.begin(), first.end(), its.begin(), its.end(),
                                  std::back_inserter(different));
    for (const auto& [key, value] : different) differing.insert(key);
  }
  const bool any_has_pieces = std::ranges::any_of(
      runs, [](const auto& run) { return run->recipe().task->tokenization().unit == Unit::pieces; });
  std::vector<std::string> keys;
  Recipe recipe = runs.front()->recipe();
  for (const Key& key : keys_of(recipe))
    if (differing.contains(key.name) && (any_has_pieces || !key.name.starts_with("data.pieces")))
      keys.push_back(key.name);
  return keys;
}

std::string shown_value(const Key& key) {
  const std::string text = value_text(key);
  const bool is_list_of_one = text.starts_with('[') && text.find(',') == text.npos && text.size() > 2;
  return is_list_of_one || text.starts_with('"') ? text.substr(1, text.size() - 2) : text;
}

std::string shown_value(Recipe recipe, const std::string& name) {
  for (const Key& key : keys_of(recipe))
    if (key.name == name) return shown_value(key);
  return dash;
}

std::string shown_name(const std::string& key, const std::vector<std::string>& keys) {
  const auto last = [](const std::string& name) { return name.substr(name.rfind('.') + 1); };
  const auto same =
      std::ranges::count_if(keys, [&](const std::string& other) { return last(other) == last(key); });
  return same > 1 ? key : last(key);
}

Mean mean_score(const Runs& group, std::size_t kind, const std::string& key) {
  std::vector<double> figures;
  std::set<std::string> settings;
  for (const auto& run : group) {
    const std::optional<KeptMeasurement>& measured = run->measured[kind];
    if (!measured) continue;
    settings.insert(measured->settings);
    if (const double figure = score_in(measured->scores, key); std::isfinite(figure))
      figures.push_back(figure);
  }
  return settings.size() > 1 ? Mean() : mean_of(figures);
}

TableCell score_cell(const Runs& group, std::size_t kind, const ScoreStyle& style) {
  const Mean mean = mean_score(group, kind, style.key);
  if (mean.n == 0) return {};
  std::string text = fmt::format("{:.{}f}", mean.value, style.digits);
  if (mean.n > 1) text += fmt::format(" ± {:.{}f}", mean.deviation, style.digits);
  return {mean.n == group.size() ? text : fmt::format("{} ({})", text, mean.n), mean};
}

std::vector<ScoreStyle> styles_of(const Runs& runs) {
  std::set<std::string> keys;
  const auto add = [&](const ScoreMap& scores) {
    for (const auto& [key, value] : scores) keys.insert(key);
  };
  for (const auto& run : runs) {
    for (const std::optional<KeptMeasurement>& it : run->measured)
      if (it) add(it->scores);
    for (const LoggedEvaluation& it : run->evaluations) add(it.scores);
  }
  std::vector<ScoreStyle> known, styles;
  for (const ScoreStyle& it : score_styles())
    if (keys.erase(it.key) > 0) known.push_back(it);
  for (const std::string& key : keys) styles.push_back(score_style(key));
  styles.insert(styles.end(), known.begin(), known.end());
  return styles;
}

ScoreStyle decisive_score(const Recipe& recipe) {
  const std::string metric = recipe.task->selection_metric();
  if (metric == "nats") return score_style(name_of(usual_unit(*recipe.task)));
  ScoreStyle style = score_style(metric);
  style.higher_is_better = recipe.task->higher_is_better();
  return style;
}

void warn_of_figures(const Runs& runs) {
  std::map<std::string, std::vector<std::string>> warnings;                 // each with its runs
  std::map<std::vector<std::string>, std::set<std::int64_t>> vocabularies;  // of runs of one text
  for (const auto& run : runs) {
    if (const std::string why = run->why_not_published(); !why.empty())
      warnings["published figures are left out: " + why].push_back(run->path);
    if (!run->measured[valid_kind] && !run->steps.empty()) warnings["not evaluated yet"].push_back(run->path);
    if (!run->recipe().task->predicts_text()) continue;
    if (const auto& it = run->measured[run->measured[test_kind] ? test_kind : valid_kind];
        it && !warning_of_unknowns({"", it->unknowns.value_or(0), it->symbols}).empty())
      warnings["warning: many unknown symbols, which are easy to predict: figures do not compare"].push_back(
          run->path);
    if (const auto& sha256 = run->config.made_by.sha256; !sha256.empty() && run->types > 0)
      vocabularies[digests_of(sha256)].insert(run->types);
  }
  for (const auto& [warning, its_runs] : warnings)
    print_note(fmt::format("{}{}: {}", its_runs.front(),
                           its_runs.size() > 1 ? fmt::format(" and {} more", its_runs.size() - 1) : "",
                           warning));
  for (const auto& [text, sizes] : vocabularies)
    if (sizes.size() > 1)
      print_warning(
          fmt::format("runs of one text have vocabularies of {} symbols: figures per symbol do not compare",
                      fmt::join(sizes, ", ")));
}

}  // namespace rondo

// Runs in groups, and the means of their scores.
#include "lm/report/run_groups.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "lm/program/cli.h"
#include "lm/program/recipe.h"
#include "lm/report/evaluation_report.h"
#include "tensor/error.h"

namespace rondo {

namespace {

/// The settings of a run that affect its measurements, and the seed as 0.
Recipe without_seed(const RunRecord& run) {
  const Recipe defaults;
  Recipe recipe = run.recipe();
  recipe.trainer.seed = 0;
  recipe.description = recipe.paper = "";
  recipe.published = defaults.published;
  recipe.report = defaults.report;
  recipe.run.log_every = defaults.run.log_every;
  recipe.run.probe_every = defaults.run.probe_every;
  recipe.run.save_every = defaults.run.save_every;
  recipe.run.tensorboard = defaults.run.tensorboard;
  if (auto* task = dynamic_cast<SkipThoughtTask*>(&*recipe.task))
    task->settings.train.sentences_every = 0, task->settings.train.sentence_sets = {};
  return recipe;
}

/// Groups runs of which `identity` gives the same text, in the order of each group's first run. `admits` says
/// whether a group may have another run.
template <class Identity, class Admits>
std::vector<Runs> grouped(const Runs& runs, Identity identity, Admits admits) {
  std::vector<Runs> groups;
  std::vector<std::string> identities;
  for (const auto& run : runs) {
    const std::string its = identity(*run);
    std::size_t at = 0;
    while (at < groups.size() && (identities[at] != its || !admits(groups[at], *run))) ++at;
    if (at == groups.size()) identities.push_back(its), groups.emplace_back();
    groups[at].push_back(run);
  }
  return groups;
}

/// Prints a line on stderr.
template <class... Arguments>
void say(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  fmt::print(stderr, "lm: {}\n", fmt::format(text, std::forward<Arguments>(arguments)...));
}

/// The settings of a recipe for a reader, by their keys.
std::map<std::string, std::string> shown_settings(Recipe recipe) {
  std::map<std::string, std::string> settings;
  for (const Key& key : keys_of(recipe)) {
    std::string text = value_text(key);
    const bool is_list_of_one = text.starts_with('[') && text.find(',') == text.npos && text.size() > 2;
    if (is_list_of_one || text.starts_with('"')) text = text.substr(1, text.size() - 2);
    settings[key.name] = text;
  }
  return settings;
}

}  // namespace

bool holds_runs(const std::filesystem::path& folder) {
  return std::filesystem::is_directory(folder) && !file_is_there(RunFolder{folder}.config()) &&
         !runs_in(folder).empty();
}

std::pair<Runs, int> read_runs(const std::vector<std::string>& paths) {
  std::vector<std::string> folders;
  for (const std::string& path : paths) {
    const bool is_written_beside_runs =
        std::filesystem::is_regular_file(path) &&
        (path.ends_with(".svg") || path.ends_with(".html") || path.ends_with(".csv"));
    if (holds_runs(path))
      for (const std::filesystem::path& run : runs_in(path)) folders.push_back(run.string());
    else if (paths.size() == 1 || !is_written_beside_runs)
      folders.push_back(path);
  }
  Runs runs;
  int status = 0;
  for (const std::string& folder : folders) try {
      runs.push_back(std::make_shared<const RunRecord>(read_run(folder)));
    } catch (const InputError&) {
      const Failure failure = current_failure();
      fmt::print(stderr, "{}\n", failure.line);
      status = failure.exit_status;
    }
  return {std::move(runs), status};
}

std::vector<Runs> group_by_settings(const Runs& runs) {
  const auto identity = [](const RunRecord& run) {
    Recipe recipe = without_seed(run);
    const Provenance& made_by = run.config.made_by;
    return fmt::format("{}\n{} {} {} {} {} {}", write_toml(keys_of(recipe)), run.is_finetuned(),
                       made_by.initialized_from, run.vocabulary_size, name_of(made_by.device),
                       name_of(made_by.precision), fmt::join(digests_of(made_by.sha256), " "));
  };
  return grouped(runs, identity, [](const Runs& group, const RunRecord& run) {
    return run.finished && std::all_of(group.begin(), group.end(), [&](const auto& other) {
             return other->finished && other->recipe().trainer.seed != run.recipe().trainer.seed;
           });
  });
}

std::vector<Runs> group_by_keys(const Runs& runs, const std::vector<std::string>& keys) {
  const auto identity = [&](const RunRecord& run) {
    const Provenance& made_by = run.config.made_by;
    return fmt::format("{}\n{} {} {} {} {}", fmt::join(values_of(run.recipe(), keys), "\n"),
                       run.recipe().name, run.finished, run.is_finetuned(), made_by.initialized_from.empty(),
                       fmt::join(digests_of(made_by.sha256), " "));
  };
  return grouped(runs, identity, [](const Runs&, const RunRecord&) { return true; });
}

std::vector<std::string> differing_keys(const Runs& runs) {
  std::set<std::string> differing;
  const auto first = shown_settings(without_seed(*runs.front()));
  for (const auto& run : runs)
    for (const auto& [key, value] : shown_settings(without_seed(*run)))
      if (const auto found = first.find(key); found == first.end() || found->second != value)
        differing.insert(key);
  // Without pieces their settings say nothing; their defaults have changed between versions. Settings of
  // finetuning say nothing about a run that was not finetuned.
  const bool any_has_pieces = std::any_of(runs.begin(), runs.end(), [](const auto& run) {
    return run->recipe().task->tokenization().unit == Unit::pieces;
  });
  const bool all_are_finetuned =
      std::all_of(runs.begin(), runs.end(), [](const auto& run) { return run->is_finetuned(); });
  std::vector<std::string> keys;
  Recipe recipe = runs.front()->recipe();
  for (const Key& key : keys_of(recipe))
    if (differing.contains(key.name) && (any_has_pieces || !key.name.starts_with("data.pieces")) &&
        (all_are_finetuned || !key.name.starts_with("finetune.")))
      keys.push_back(key.name);
  return keys;
}

std::vector<std::string> values_of(const Recipe& recipe, const std::vector<std::string>& keys) {
  const auto settings = shown_settings(recipe);
  std::vector<std::string> values;
  for (const std::string& key : keys) {
    const auto found = settings.find(key);
    values.push_back(found == settings.end() ? dash : found->second);
  }
  return values;
}

std::string shown_name(const std::string& key, const std::vector<std::string>& keys) {
  const auto last = [](const std::string& name) { return name.substr(name.rfind('.') + 1); };
  const auto same = std::count_if(keys.begin(), keys.end(),
                                  [&](const std::string& other) { return last(other) == last(key); });
  return same > 1 ? key : last(key);
}

std::optional<Mean> mean_score(const Runs& group, std::size_t kind, const std::string& key) {
  std::vector<double> figures;
  std::set<std::string> settings;
  for (const auto& run : group) {
    const std::optional<KeptMeasurement>& measured = run->measured[kind];
    if (!measured) continue;
    settings.insert(measured->settings);
    if (const double figure = score_in(measured->scores, key); std::isfinite(figure))
      figures.push_back(figure);
  }
  if (settings.size() > 1) return std::nullopt;
  return mean_of(figures, group.size());
}

TableCell score_cell(const Runs& group, std::size_t kind, const ScoreStyle& style) {
  const std::optional<Mean> mean = mean_score(group, kind, style.key);
  if (!mean) return {"several settings"};
  if (mean->n == 0) return {dash, mean};
  std::string text = fmt::format("{:.{}f}", mean->value, style.digits);
  if (mean->n > 1) text += fmt::format("{}{:.{}f}", plus_minus, mean->deviation, style.digits);
  return {mean->n == group.size() ? text : fmt::format("{} ({})", text, mean->n), mean};
}

std::vector<ScoreStyle> styles_of(const Runs& runs) {
  std::vector<const ScoreMap*> scores;
  for (const auto& run : runs) {
    for (const std::optional<KeptMeasurement>& it : run->measured)
      if (it) scores.push_back(&it->scores);
    for (const LoggedEvaluation& it : run->evaluations) scores.push_back(&it.scores);
  }
  return styles_of(scores);
}

ScoreStyle decisive_score(const Recipe& recipe) {
  const std::string metric = recipe.task->selection_metric();
  if (metric == "nats")
    return score_style(recipe.task->tokenization().unit == Unit::words ? "perplexity" : "bits");
  ScoreStyle style = score_style(metric);
  style.higher_is_better = recipe.task->higher_is_better();
  return style;
}

void warn_omitted_published(const Runs& runs) {
  struct Left {
    Runs runs;
    std::vector<std::string> keys;  // that were changed
  };
  std::map<std::string, Left> by_reason;
  for (const auto& run : runs) {
    const PublishedFigures& published = run->recipe().published;
    if (published_text(published).empty()) continue;
    const std::vector<std::string> changed = changed_keys(run->recipe(), run->is_finetuned());
    std::string reason;
    if (!changed.empty())
      reason = fmt::format("settings are not those of the recipe {}: ", run->recipe().name);
    else if (!run->is_of_the_papers_text())
      reason = fmt::format(
          "they are of another text (published.vocabulary = {}, here {}; published.test_symbols = {}, here "
          "{}; 0: not known)",
          published.vocabulary, run->types, published.test_symbols,
          run->measured[test_kind] ? run->measured[test_kind]->symbols : 0);
    else if (!run->finished)
      reason = "an unfinished run is not compared with them";
    else
      continue;
    auto& [with_it, keys] = by_reason[reason];
    with_it.push_back(run);
    for (const std::string& key : changed)
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
  }
  for (const auto& [reason, left] : by_reason)
    say("{}{}: published figures are left out: {}{}", left.runs.front()->path,
        left.runs.size() > 1 ? fmt::format(" and {} more", left.runs.size() - 1) : "", reason,
        fmt::join(left.keys, ", "));
}

void warn_misleading(const Runs& runs) {
  for (const auto& run : runs) {
    if (!run->measured[valid_kind] && !run->steps.empty())
      say("{}: not evaluated yet; at step {}, after {:.2f} epochs, the training loss is {:.4f} nats",
          run->path, run->steps.back().when.step, run->steps.back().when.epochs, run->steps.back().nats);
    for (const std::size_t kind : {test_kind, valid_kind})
      if (const auto& it = run->measured[kind];
          it && run->recipe().language_modelling() &&
          is_worse_than_uniform(score_in(it->scores, "nats"), run->vocabulary_size))
        say("warning: {}: the figures on {} are worse than those of equal probabilities", run->path,
            kinds_of_measurement[kind].split);
  }
}

void warn_incomparable(const Runs& runs) {
  std::vector<std::string> know_little;
  std::map<std::vector<std::string>, std::set<std::int64_t>> types;  // of runs of one text
  for (const auto& run : runs) {
    if (!run->recipe().task->predicts_text()) continue;
    if (const auto& it = run->measured[run->measured[test_kind] ? test_kind : valid_kind]) {
      const UnknownShare share{"", it->unknowns.value_or(0), it->symbols};
      if (!warning_of_unknowns(share).empty())
        know_little.push_back(fmt::format("{} ({:.1f} %)", run->path, share.percent()));
    }
    if (const auto& sha256 = run->config.made_by.sha256; !sha256.empty() && run->types > 0)
      types[digests_of(sha256)].insert(run->types);
  }
  if (!know_little.empty())
    say("warning: many symbols of the test or validation text are unknown to {}: easy to predict, "
        "so that the figures do not compare with those of other runs",
        fmt::join(know_little, ", "));
  for (const auto& [text, sizes] : types)
    if (sizes.size() > 1)
      say("warning: runs of one text have vocabularies of {} symbols: bits and perplexity per symbol do "
          "not compare, since <unk> is easy to predict and symbols differ in length",
          fmt::join(sizes, ", "));
}

void warn_mixed_groups(const std::vector<Runs>& groups, const std::vector<std::string>& keys) {
  std::set<std::string> mixed;
  for (const Runs& group : groups)
    for (const std::string& key : differing_keys(group))
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) mixed.insert(key);
  if (!mixed.empty())
    say("the runs of a group also differ in {}: means and deviations are over these, too",
        fmt::join(mixed, ", "));
}

}  // namespace rondo

// The measurements of runs.
#include "lm/program/measured_runs.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "data/input_file.h"
#include "lm/decoding/beam_search.h"
#include "lm/program/compared_settings.h"
#include "lm/program/figure_warnings.h"
#include "lm/program/json_lines.h"
#include "lm/program/measurement.h"
#include "lm/program/model.h"
#include "lm/program/published.h"
#include "lm/program/run.h"
#include "lm/program/text_table.h"
#include "lm/training/trainer.h"

namespace rondo {
namespace {

/// Reads one line of log.jsonl; false if it is not one.
bool read_log_line(const nlohmann::json& entry, MeasuredRun& row) {
  if (entry.value("event", "") == "stopped") {
    row.finished = false;
    row.has_unevaluated_model = !entry.at("model_is_evaluated").get<bool>();
    return true;
  }
  const auto split = entry.find("split");
  if (split == entry.end() && entry.contains("epochs_trained"))
    row.logged = {integer_at(entry, "step"), figure_at(entry, "epochs_trained"), figure_at(entry, "nats")};
  if (split == entry.end()) return entry.at("step").is_number();
  if (*split == "speakers") return true;  // a recogniser's; it is in evaluations.jsonl, too
  // Logs of version 0.1 do not say how a text was read: as in evaluations during training.
  const Measured measured{figure_at(entry, "nats"),
                          optional_figure_at(entry, "bits"),
                          optional_figure_at(entry, "perplexity"),
                          entry.contains("symbols") ? integer_at(entry, "symbols") : 0,
                          entry.value("read", validation_reading(row.recipe(), 0).text()),
                          "",
                          task_scores_of(entry)};
  if (*split == "test") {
    if (!row.test()) row.test() = measured;  // later lines are of another reading
    row.finished = true;
    return true;
  }
  if (entry.at("best").get<bool>()) {
    row.valid() = measured;
    if (entry.contains("step")) row.keeps_base = entry.at("step") == 0;
  }
  if (!entry.contains("epoch")) return *split == "valid";  // the best model, measured again
  row.test().reset();                                      // the training was continued
  row.finished = false;
  row.steps = entry.contains("step") ? integer_at(entry, "step") : 0;
  row.epochs = integer_at(entry, "epoch");
  row.epochs_trained = optional_figure_at(entry, "epochs_trained").value_or(static_cast<double>(row.epochs));
  row.training_seconds.reset();
  if (const auto seconds = entry.find("training_seconds"); seconds != entry.end() && !seconds->is_null())
    row.training_seconds = seconds->get<double>();
  return *split == "valid";
}

/// How the texts of figures that have precedence are read: as published; by translators with the run's beam.
std::string preferred_reading(const Recipe& recipe) {
  const bool translates = recipe.kind == TaskKind::translation || recipe.kind == TaskKind::multi_task;
  return translates ? search_text(recipe.translation.decoding.beam) : published_reading(recipe);
}

/// Takes the last measurement of each kind on the run's own text, in the run's precision or fp32.
/// preferred_reading() takes precedence over other readings.
void take_measurements(const std::vector<KeptMeasurement>& kept, MeasuredRun& row) {
  const std::string preferred = preferred_reading(row.recipe());
  const bool begins_anew = !final_reading(row.recipe(), 0).carries_state();
  const Provenance& made_by = row.config.made_by;
  for (const KeptMeasurement& it : kept) {
    if (digests_of(it.sha256) != digests_of(made_by.sha256)) continue;
    if (it.precision != Precision::fp32 && it.precision != made_by.precision) continue;
    const bool adapts = it.dynamic || it.cache;
    for (std::size_t k = 0; k < kinds_of_measurement.size(); ++k) {
      const MeasurementKind& kind = kinds_of_measurement[k];
      const bool carried = !adapts && begins_anew && it.read == Reading{}.text();
      if (kind.split != it.split || kind.dynamic != it.dynamic || kind.cache != it.cache ||
          kind.carried != carried)
        continue;
      std::optional<Measured>& into = row.measured[k];
      if (into && kind.is_plain() && into->read == preferred && it.read != preferred) continue;
      const double least = into ? std::min(into->least_nats, it.nats) : it.nats;
      into = Measured{it.nats,     it.bits,   it.perplexity,    it.symbols,  it.read,
                      it.settings, it.scores, it.bits_per_byte, it.unknowns, least};
    }
  }
}

/// The index of the vocabulary whose size a table has, as kept measurements do: of translators the target's.
std::size_t shown_table(TaskKind kind) {
  return kind == TaskKind::translation || kind == TaskKind::multi_task ? 1 : 0;
}

}  // namespace

MeasuredRun measured_so_far(const std::string& path) {
  const RunFolder folder = open_run_folder(path);
  MeasuredRun row;
  row.run = path;
  row.config = read_config(folder);
  std::vector<KeptMeasurement> kept = kept_measurements(folder);
  std::erase_if(kept, [&](const KeptMeasurement& it) {  // of multi-task runs, the first task has the row
    return !it.task.empty() && (row.recipe().tasks.empty() || it.task != row.recipe().tasks.front().name);
  });
  if (file_is_there(vocabulary_paths(folder, row.recipe()).back()) || kept.empty()) {
    const std::vector<SymbolTable> tables = symbol_tables(folder, row.config);
    const SymbolTable& shown = tables.at(shown_table(row.recipe().kind));
    row.vocabulary_size = shown.size;
    row.types = shown.types;
    row.parameters = make_layout(row.recipe(), sizes_of(tables))->parameter_count();
  } else {
    row.vocabulary_size = kept.back().vocabulary_size;
    row.types = kept.back().types;
    row.parameters = kept.back().parameters;
  }
  read_json_lines(folder.log(), "`lm train` writes into its log",
                  [&](const nlohmann::json& entry) { return read_log_line(entry, row); });
  take_measurements(kept, row);
  if (row.valid()) row.has_unevaluated_model = false;  // `lm eval` has measured it since
  if (!has_perplexity(row.recipe().kind))              // earlier versions kept bits of them, too
    for (std::optional<Measured>& it : row.measured)
      if (it) it->bits = it->perplexity = std::nullopt;
  row.sentences = kept_sentence_figures(folder);
  return row;
}

MeasuredRun measured_run(const std::string& path) {
  MeasuredRun row = measured_so_far(path);
  const RunFolder folder{path};
  if (!row.finished && row.valid() && file_is_there(folder.state()))  // a text without a test text
    row.finished = is_finished(row.recipe().trainer, folder.state());
  return row;
}

bool MeasuredRun::is_of_the_papers_text() const {
  const auto& test = measured[test_kind];
  return may_be_the_papers(recipe().published, types, test ? std::optional(test->symbols) : std::nullopt);
}

double MeasuredRun::published(const MeasurementKind& kind, const std::optional<Measured>& it) const {
  const bool reads_as_published = !kind.is_plain() || !it || it->read == published_reading(recipe());
  if (kind.carried || !reads_as_published || !is_of_the_papers_text() ||
      !changed_keys(recipe(), is_finetuned()).empty())
    return 0;
  return published_figure(recipe().published, is_finetuned(), kind.split, kind.dynamic, kind.cache);
}

Recipe without_seed(const MeasuredRun& run) {
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
  recipe.skip_thought.task.sentences_every = 0;
  recipe.skip_thought.task.sentence_sets = {};
  return recipe;
}

namespace {

/// What the runs of one group have in common: text, device, and all settings that affect figures, except the
/// seed.
std::string kind_of(const MeasuredRun& row) {
  Recipe recipe = without_seed(row);
  const Provenance& made_by = row.config.made_by;
  return fmt::format("{}\n{} {} {} {} {}\n{}", write_toml(keys_of(recipe)), row.is_finetuned(),
                     made_by.initialized_from, row.vocabulary_size, name_of(made_by.device),
                     name_of(made_by.precision), fmt::join(digests_of(made_by.sha256), "\n"));
}

}  // namespace

std::vector<MeasuredRuns> lines_of(const MeasuredRuns& rows) {
  std::vector<MeasuredRuns> lines;
  std::vector<std::string> of;
  for (const MeasuredRun& row : rows) {
    const std::string kind = kind_of(row);
    const auto fits = [&](std::size_t at) {
      return of[at] == kind && row.finished &&
             std::all_of(lines[at].begin(), lines[at].end(), [&](const MeasuredRun& other) {
               return other.finished && other.recipe().trainer.seed != row.recipe().trainer.seed;
             });
    };
    std::size_t at = 0;
    while (at < lines.size() && !fits(at)) ++at;
    if (at == lines.size()) of.push_back(kind), lines.emplace_back();
    lines[at].push_back(row);
  }
  return lines;
}

std::vector<MeasuredRuns> groups_of(const MeasuredRuns& rows, const std::vector<std::string>& keys) {
  std::vector<MeasuredRuns> groups;
  std::vector<std::vector<std::string>> of;
  for (const MeasuredRun& row : rows) {
    std::vector<std::string> values = values_of(row.recipe(), keys);
    const Provenance& made_by = row.config.made_by;
    values.insert(values.end(),
                  {row.recipe().name, row.finished ? "finished" : "", row.is_finetuned() ? "finetuned" : "",
                   made_by.initialized_from.empty() ? "" : "initialized",
                   fmt::format("{}", fmt::join(digests_of(made_by.sha256), " "))});
    const auto at = std::find(of.begin(), of.end(), values);
    if (at != of.end()) {
      groups[static_cast<std::size_t>(at - of.begin())].push_back(row);
      continue;
    }
    of.push_back(values);
    groups.push_back({row});
  }
  return groups;
}

Mean mean_of(const std::vector<double>& figures) {
  Mean it;
  it.n = figures.size();
  for (const double figure : figures) it.mean += figure / static_cast<double>(it.n);
  double squares = 0;
  for (const double figure : figures) squares += (figure - it.mean) * (figure - it.mean);
  if (it.n > 1) it.deviation = std::sqrt(squares / static_cast<double>(it.n - 1));
  return it;
}

std::optional<Mean> mean_of(const MeasuredRuns& line, std::size_t kind, const Value& value) {
  std::vector<double> figures;
  const Measured* first = nullptr;
  for (const MeasuredRun& row : line) {
    if (!row.measured[kind]) continue;
    const Measured& measured = *row.measured[kind];
    if (!first) first = &measured;
    if (measured.settings != first->settings) return std::nullopt;
    if (const std::optional<double> figure = value(measured); figure && std::isfinite(*figure))
      figures.push_back(*figure);
  }
  return mean_of(figures);
}

std::string mean_text(const MeasuredRuns& line, std::size_t kind, const Value& value, int digits) {
  const std::optional<Mean> it = mean_of(line, kind, value);
  if (!it) return "several settings";
  if (it->n == 0) return dash;
  std::string text = fmt::format("{:.{}f}", it->mean, digits);
  if (it->n > 1) text += fmt::format("{}{:.{}f}", plus_minus, it->deviation, digits);
  return it->n == line.size() ? text : fmt::format("{} ({})", text, it->n);
}

Value score_of(const std::string& key) {
  return [key](const Measured& it) {
    const auto score = it.scores.find(key);
    return score == it.scores.end() ? std::nullopt : std::optional(score->second);
  };
}

DecisiveFigure decisive_figure(const Recipe& recipe) {
  const auto score = [](const std::string& key, bool higher_is_better = true) {
    const auto found =
        std::find_if(task_scores.begin(), task_scores.end(), [&](const auto& it) { return it.first == key; });
    return DecisiveFigure{found->second, score_of(key), higher_is_better};
  };
  switch (recipe.kind) {
    case TaskKind::translation:
    case TaskKind::multi_task:
      if (const TranslationFigure it = recipe.translation.task.decides; it != TranslationFigure::nats)
        return score(name_of(it));
      break;
    case TaskKind::classification:
    case TaskKind::question_answering:
      return score("accuracy");
    case TaskKind::speech:
      return score("cer", false);
    case TaskKind::skip_thought:
    case TaskKind::language_modelling:
      break;
  }
  if (tokenization_of(recipe).unit == Unit::words) return {"perplexity", &Measured::perplexity};
  return {"bits", &Measured::bits, false, 4};
}

void say_what_does_not_compare(const MeasuredRuns& rows) {
  std::vector<std::string> know_little;
  for (const MeasuredRun& row : rows)
    if (const auto& it = row.measured[row.measured[test_kind] ? test_kind : valid_kind];
        it && has_perplexity(row.recipe().kind)) {
      const UnknownShare share{"", it->unknowns.value_or(0), it->symbols};
      if (!warning_of_unknowns(share).empty())
        know_little.push_back(fmt::format("{} ({:.1f} %)", row.run, share.percent()));
    }
  if (!know_little.empty())
    fmt::print(stderr,
               "lm: warning: many symbols of the test or validation text are unknown to {}: easy to predict, "
               "so that the figures do not compare with those of other runs\n",
               fmt::join(know_little, ", "));
  std::map<std::vector<std::string>, std::set<std::int64_t>> types;  // of runs of one text
  for (const MeasuredRun& row : rows)
    if (has_perplexity(row.recipe().kind) && !row.config.made_by.sha256.empty() && row.types > 0)
      types[digests_of(row.config.made_by.sha256)].insert(row.types);
  for (const auto& [text, sizes] : types)
    if (sizes.size() > 1)
      fmt::print(
          stderr,
          "lm: warning: runs of one text have vocabularies of {} symbols: bits and perplexity per symbol do "
          "not compare, since <unk> is easy to predict and symbols differ in length\n",
          fmt::join(sizes, ", "));
}

namespace {

/// Figures of one method and of both together say nothing about each other if the method's settings differ.
void say_what_differs_in_settings(const MeasuredRun& row) {
  const auto settings_of = [&](std::size_t kind, const char* section) {
    const std::optional<Measured>& it = row.measured[kind];
    const auto all = it && !it->settings.empty() ? nlohmann::json::parse(it->settings) : nlohmann::json();
    return all.contains(section) ? all.at(section).dump() : "";
  };
  for (std::size_t both = 0; both < kinds_of_measurement.size(); ++both)
    for (std::size_t one = 0; one < both; ++one) {
      const MeasurementKind &of_both = kinds_of_measurement[both], &of_one = kinds_of_measurement[one];
      if (!of_both.dynamic || !of_both.cache || of_one.dynamic == of_one.cache ||
          of_one.split != of_both.split)
        continue;
      const char* section = of_one.dynamic ? "dynamic" : "cache";
      const std::string a = settings_of(one, section), b = settings_of(both, section);
      if (!a.empty() && !b.empty() && a != b)
        fmt::print(stderr,
                   "lm: {}: {} and {} were measured with different settings of [{}], which --json shows\n",
                   row.run, of_one.name, of_both.name, section);
    }
}

}  // namespace

void say_what_misleads(const MeasuredRuns& rows) {
  for (const MeasuredRun& row : rows) {
    say_what_differs_in_settings(row);
    if (!row.measured[valid_kind] && row.logged)
      fmt::print(
          stderr,
          "lm: {}: not evaluated yet; at step {}, after {:.2f} epochs, the training loss is {:.4f} nats\n",
          row.run, row.logged->step, row.logged->epochs_trained, row.logged->nats);
    for (const SentenceSetFigures& it : row.sentences)
      if (it.replaces_others)
        fmt::print(
            stderr,
            "lm: {}: {} was measured on different files or word vectors: the figures are of the last ones\n",
            row.run, it.set);
    for (std::size_t kind = 0; kind < kinds_of_measurement.size(); ++kind)
      if (const auto& it = row.measured[kind]; it && it->least_nats < it->nats && !it->settings.empty())
        fmt::print(
            stderr,
            "lm: {}: {}: the figures are of the last evaluation; one with other settings was better, and "
            "is in {}\n",
            row.run, kinds_of_measurement[kind].name, RunFolder{row.run}.evaluations().string());
    if (row.recipe().kind != TaskKind::language_modelling) continue;
    for (const std::size_t kind : {valid_kind, test_kind})
      if (const auto& it = row.measured[kind]; it && is_worse_than_uniform(it->nats, row.vocabulary_size))
        fmt::print(stderr, "lm: warning: {}: the figures on {} are worse than those of equal probabilities\n",
                   row.run, kinds_of_measurement[kind].split);
  }
}

}  // namespace rondo

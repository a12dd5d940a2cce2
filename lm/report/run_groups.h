// The record of a run: its settings, the course of its training, and what was measured of its best model;
// from config.toml, log.jsonl and evaluations.jsonl in its folder. `lm table`, the report of a sweep and `lm
// plot` read nothing else. And groups of runs that are compared: which share a row, which settings differ
// between them, means over them, and warnings about what does not compare.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lm/program/log.h"
#include "lm/program/probe_report.h"
#include "lm/program/run.h"
#include "lm/report/sentences.h"
#include "lm/report/text_table.h"

namespace rondo {

// --- Records ---

/// A kind of measurement: its name in tables and in JSON, and what was measured.
struct MeasurementKind {
  std::string name, key, split;
  bool dynamic = false, cache = false;

  bool is_plain() const { return !dynamic && !cache; }
};
inline const std::vector<MeasurementKind> kinds_of_measurement = {
    {"test", "test", "test"},
    {"test dynamic", "test_dynamic", "test", true},
    {"test cache", "test_cache", "test", false, true},
    {"test dynamic+cache", "test_both", "test", true, true},
    {"valid", "valid", "valid"},
    {"valid dynamic", "valid_dynamic", "valid", true},
    {"valid cache", "valid_cache", "valid", false, true},
    {"valid dynamic+cache", "valid_both", "valid", true, true},
    {"speakers", "speakers", "speakers"},
};
constexpr std::size_t test_kind = 0, valid_kind = 4;

/// What was measured of a run's best model, and how.
struct KeptMeasurement {
  ScoreMap scores{};  // without bits per byte where symbols are unknown: it does not predict their bytes
  std::int64_t symbols = 0;
  std::optional<std::int64_t> unknowns{};
  std::string read{};
  std::string settings{};  // of adaptive methods, as JSON; empty: none
};

/// When something was logged. Logs of version 0.2 have whole epochs, and no time.
struct LoggedMoment {
  std::int64_t step = 0;
  double epochs = not_known, seconds = not_known;  // trained so far; the time of all updates
};

/// The steps since the line before.
struct LoggedSteps {
  LoggedMoment when;
  double nats = not_known, learning_rate = not_known, gradient_norm = not_known;
};

/// An evaluation on the validation text during the training.
struct LoggedEvaluation {
  LoggedMoment when;
  std::int64_t epoch = 0;
  ScoreMap scores{};
  bool best = false;  // so far
};

/// What is known of a run. A folder of docs/runs, which has no vocabulary and no model, is one, too.
struct RunRecord {
  std::string path;
  RunConfig config;
  std::int64_t vocabulary_size = 0, types = 0, parameters = 0;
  bool finished = false;
  bool keeps_base = false;  // no evaluation was better than that of the weights it began with

  std::vector<LoggedSteps> steps{};
  std::vector<LoggedEvaluation> evaluations{};
  std::vector<ProbeOfEpoch> probes{};

  /// By kind; from the log or from evaluations.jsonl.
  std::vector<std::optional<KeptMeasurement>> measured{kinds_of_measurement.size()};
  std::vector<SentenceSetFigures> sentences{};  // of a skip-thought model

  const Recipe& recipe() const { return config.recipe; }
  /// Returns the last evaluation during the training; if there was none, one of step 0.
  LoggedEvaluation last_evaluation() const {
    return evaluations.empty() ? LoggedEvaluation{.when = {0, 0, not_known}} : evaluations.back();
  }
  bool is_finetuned() const { return config.made_by.is_finetuned(); }
  /// Returns why the paper's results are not those of such a run; empty: they are, or there are none.
  std::string why_not_published() const;
  /// Returns the paper's result for the same kind of model, trained to its end, on the same text, read in the
  /// same way; 0 if there is none.
  double published(std::size_t kind) const;
};

/// Reads a run's settings and its log alone. Throws InputErrors of the folder and of its files.
RunRecord read_log(const std::string& path);
/// Reads a run's folder. Throws the same InputErrors.
RunRecord read_run(const std::string& path);

// --- Groups ---

using Runs = std::vector<std::shared_ptr<const RunRecord>>;

/// Whether it is a folder that is not a run, but has folders that are, as that of a sweep.
bool holds_runs(const std::filesystem::path& folder);
/// Reads the runs at these paths, and in place of a folder that holds runs these. Of several paths, as
/// "SWEEP/*" gives them, those of files are left out. So is what is not a run, or has a broken file, with a
/// line on stderr and an exit status that is not 0.
std::pair<Runs, int> read_runs(const std::vector<std::string>& paths);

/// Groups finished runs on the same text that differ only in their seed, in the order of each group's first
/// run. Each seed is once in a group: a copy of a run begins another one.
std::vector<Runs> grouped(const Runs& runs);

/// Returns the keys whose values are not the same in all runs, in the recipe's order, without the seed and
/// without what affects no measurement. Runs may be of several tasks.
std::vector<std::string> differing_keys(const Runs& runs);
/// Returns the value of a key for a reader: a string without quotes, a list of one number as that number.
std::string shown_value(const Key& key);
/// Returns the same for the key `name` of a recipe; a dash for one that its task does not have.
std::string shown_value(Recipe recipe, const std::string& name);
/// Returns the part of a key's name after the section, or all of it if another of `keys` has the same.
std::string shown_name(const std::string& key, const std::vector<std::string>& keys);

/// Returns the mean of a score over those of a group that have it; of none if they were measured with
/// different settings.
Mean mean_score(const Runs& group, std::size_t kind, const std::string& key);
/// Shows the score of one run, or the mean of several and their standard deviation; then the number of runs
/// that have it, if not all have.
TableCell score_cell(const Runs& group, std::size_t kind, const ScoreStyle& style);
/// The styles of all scores of runs, in the order of score_styles(); others come first.
std::vector<ScoreStyle> styles_of(const Runs& runs);
/// Returns the score by which runs of a recipe are compared.
ScoreStyle decisive_score(const Recipe& recipe);

/// Says on stderr which runs are not evaluated yet or have no published results beside theirs, and why; and
/// which figures do not compare because of unknown symbols or several vocabularies.
void warn_of_figures(const Runs& runs);

// --- As a table ---
// The table of `lm table`: a row for each group of runs, with what was measured of them, beside published
// results. All of it comes from the folders of the runs; nothing is measured here,
// `lm eval` does that.

/// Makes a table. Finished runs that differ only in their seed share a row.
TextTable table_of(const Runs& runs);

/// Prints a table on stdout, as `write` writes it, and on stderr what in it may mislead.
void print_table(const Runs& runs, TableForm* write = text_of);

}  // namespace rondo

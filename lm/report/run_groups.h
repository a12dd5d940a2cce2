// Groups of runs that are compared: which share a row, which settings differ between them, means over them,
// and warnings about what does not compare.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lm/report/run_record.h"
#include "lm/report/text_table.h"

namespace rondo {

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
// results. All of it comes from the folders of the runs (lm/report/run_record.h); nothing is measured here,
// `lm eval` does that.

/// Makes a table. Finished runs that differ only in their seed share a row.
TextTable table_of(const Runs& runs);

/// Prints a table on stdout, as `write` writes it, and on stderr what in it may mislead.
void print_table(const Runs& runs, TableForm* write = text_of);

}  // namespace rondo

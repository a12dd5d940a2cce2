// Groups of runs that are compared: which share a row, which settings differ between them, means over them,
// and warnings about what does not compare. As a table: lm/report/run_table.h.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
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
/// "SWEEP/*" gives them, those of diagrams, pages and tables that `lm` wrote beside runs are left out. So is
/// what is not a run, or has a broken file, with a line on stderr and an exit status that is not 0.
std::pair<Runs, int> read_runs(const std::vector<std::string>& paths);

/// Groups finished runs that differ only in their seed, in the order of each group's first run. A group has
/// each seed once: a second run with the same seed, or a copy, begins another group; so does an unfinished
/// run.
std::vector<Runs> group_by_settings(const Runs& runs);
/// Groups runs of a recipe on the same text that have the same values of these keys, whatever other settings
/// differ; finished and unfinished ones apart.
std::vector<Runs> group_by_keys(const Runs& runs, const std::vector<std::string>& keys);

/// Returns the keys whose values are not the same in all runs, in the recipe's order, without the seed and
/// without what affects no measurement. Runs may be of several tasks.
std::vector<std::string> differing_keys(const Runs& runs);
/// Returns the values of these keys for a reader: strings without quotes, lists of one number as that number,
/// a dash for a key that the recipe's task does not have.
std::vector<std::string> values_of(const Recipe& recipe, const std::vector<std::string>& keys);
/// Returns the part of a key's name after the section, or all of it if another of `keys` has the same.
std::string shown_name(const std::string& key, const std::vector<std::string>& keys);

/// Returns the mean of a score over those of a group that have it; none if they were measured with different
/// settings.
std::optional<Mean> mean_score(const Runs& group, std::size_t kind, const std::string& key);
/// Shows the score of one run, or the mean of several and their standard deviation; then the number of runs
/// that have it, if not all have.
TableCell score_cell(const Runs& group, std::size_t kind, const ScoreStyle& style);
/// The styles of all scores of runs.
std::vector<ScoreStyle> styles_of(const Runs& runs);
/// Returns the score by which runs of a recipe are compared.
ScoreStyle decisive_score(const Recipe& recipe);

/// Says on stderr why runs have no published results beside theirs.
void warn_omitted_published(const Runs& runs);
/// Names on stderr the runs that are not evaluated yet, and measurements that say less than they seem to.
void warn_misleading(const Runs& runs);
/// Names on stderr vocabularies that differ between runs of one text, and runs to which many symbols are
/// unknown.
void warn_incomparable(const Runs& runs);
/// Names on stderr settings, other than these keys, over which the means of groups are taken.
void warn_mixed_groups(const std::vector<Runs>& groups, const std::vector<std::string>& keys);

}  // namespace rondo

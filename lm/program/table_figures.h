// The columns of `lm table` that have figures: of each kind of measurement, and of sentence vectors. The
// whole table: lm/program/table_rows.h.
#pragma once

#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lm/program/measured_runs.h"
#include "lm/program/text_table.h"

namespace rondo {

/// The texts of a group's runs, once if they are the same.
template <class Text>
std::string joined(const MeasuredRuns& line, Text text) {
  std::vector<std::string> texts;
  for (const MeasuredRun& row : line)
    if (const std::string it = text(row); std::find(texts.begin(), texts.end(), it) == texts.end())
      texts.push_back(it);
  return fmt::format("{}", fmt::join(texts, "; "));
}

/// A column of figures, of groups of runs: as shown, and the means as numbers.
class FigureColumn {
 public:
  /// `varies`: a measured one, whose deviation matters; others, such as sizes, have none.
  explicit FigureColumn(const std::string& name, bool varies = true)
      : column_{name, false, {}}, varies_(varies) {}

  /// The cell of a group of so many runs; none: there is no mean.
  void add(const std::string& shown, std::size_t runs, const std::optional<Mean>& mean);
  /// The same of what `number` gives for each run that has it.
  void add(const std::string& shown, const MeasuredRuns& line,
           const std::function<std::optional<double>(const MeasuredRun&)>& number);

  /// In CSV a mean, and if the runs of a group differ their deviation; where some of a group have no figure,
  /// the number of those that have. `name`: there, another.
  TextColumn column(const std::string& name = "") const;
  bool is_empty() const { return rondo::is_empty(column_); }
  bool is_missing(std::size_t row) const { return column_.cells.at(row) == dash; }

 private:
  TextColumn column_;
  bool varies_, lacks_some_ = false;
  std::vector<Mean> means_;
};

/// Adds the columns of one kind. Nats, symbols and the reading are shown only for models that do not adapt;
/// JSON has them for all. A mean is only over figures with the same settings.
void add_figures(TextTable& columns, const std::vector<MeasuredRuns>& lines, std::size_t k);

/// Adds a column for each figure of each set that a run was measured on, in the order of the measurements.
void add_sentence_figures(TextTable& columns, const std::vector<MeasuredRuns>& lines);

}  // namespace rondo

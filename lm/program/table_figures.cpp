// The columns of `lm table` that have figures.
#include "lm/program/table_figures.h"

#include <cmath>
#include <tuple>
#include <utility>

namespace rondo {

void FigureColumn::add(const std::string& shown, std::size_t runs, const std::optional<Mean>& mean) {
  column_.cells.push_back(shown);
  means_.push_back(mean.value_or(Mean()));
  lacks_some_ |= means_.back().n > 0 && means_.back().n < runs;
}

void FigureColumn::add(const std::string& shown, const MeasuredRuns& line,
                       const std::function<std::optional<double>(const MeasuredRun&)>& number) {
  std::vector<double> numbers;
  for (const MeasuredRun& row : line)
    if (const std::optional<double> it = number(row); it && std::isfinite(*it)) numbers.push_back(*it);
  add(shown, line.size(), mean_of(numbers));
}

TextColumn FigureColumn::column(const std::string& name) const {
  const std::string& csv_name = name.empty() ? column_.name : name;
  TextColumn mean{csv_name, false, {}}, deviation{csv_name + " deviation", false, {}},
      n{csv_name + " n", false, {}};
  for (const Mean& it : means_) {
    mean.cells.push_back(it.n > 0 ? fmt::format("{}", it.mean) : dash);
    deviation.cells.push_back(it.n > 1 ? fmt::format("{}", it.deviation) : dash);
    n.cells.push_back(fmt::format("{}", it.n));
  }
  TextColumn column = column_;
  column.in_csv = {mean};
  const auto differs = [](const Mean& it) { return it.deviation > 0; };
  if (varies_ && std::any_of(means_.begin(), means_.end(), differs)) column.in_csv.push_back(deviation);
  if (varies_ && lacks_some_) column.in_csv.push_back(n);
  return column;
}

namespace {

/// Perplexity is shown for words, bits for characters and bytes; if a paper uses another unit, that one is
/// shown, too.
bool shows(const MeasuredRun& row, PublishedUnit unit) {
  const bool words = tokenization_of(row.recipe()).unit == Unit::words;
  const PublishedFigures& published = row.recipe().published;
  const auto has = [](const PublishedFigures::Splits& it) { return it.valid > 0 || it.test > 0; };
  return words == (unit == PublishedUnit::perplexity) || (has(published.trained) && published.unit == unit);
}

/// Whether all runs have the same kind of symbols. Figures per symbol of different kinds say nothing about
/// each other; bits per byte do.
bool have_same_symbols(const std::vector<MeasuredRuns>& lines) {
  const auto symbols_of = [](const MeasuredRun& it) {
    const Tokenization& symbols = tokenization_of(it.recipe());
    const bool are_pieces = symbols.unit == Unit::pieces;
    return std::tuple(symbols.unit, are_pieces ? symbols.pieces : 0,
                      are_pieces ? symbols.pieces_model : PieceModelKind{});
  };
  const auto first = symbols_of(lines.front().front());
  return std::all_of(lines.begin(), lines.end(), [&](const MeasuredRuns& line) {
    return std::all_of(line.begin(), line.end(),
                       [&](const MeasuredRun& it) { return symbols_of(it) == first; });
  });
}

}  // namespace

void add_figures(TextTable& columns, const std::vector<MeasuredRuns>& lines, std::size_t k) {
  const MeasurementKind& kind = kinds_of_measurement[k];
  TextColumn paper{kind.name + " published", false, {}},
      figures = paper, units{paper.name + " unit", true, {}}, read{kind.name + " reading", true, {}};
  FigureColumn nats(kind.name + " nats"), bits(kind.name + " bits"), perplexity(kind.name + " perplexity"),
      per_byte(kind.name + " bits/byte"), symbols(kind.name + " symbols", false);
  std::vector<FigureColumn> scores;
  for (const auto& [key, score] : task_scores) scores.emplace_back(kind.name + " " + score);
  const bool shows_per_byte = !have_same_symbols(lines);
  for (const MeasuredRuns& line : lines) {
    const MeasuredRun& first = line.front();
    const double figure = first.finished ? first.published(kind, first.measured[k]) : 0;
    figures.cells.push_back(figure > 0 ? fmt::format("{}", figure) : dash);
    units.cells.push_back(figure > 0 ? name_of(first.recipe().published.unit) : dash);
    paper.cells.push_back(figure > 0 ? fmt::format("{} {}", figure, units.cells.back()) : dash);
    const auto add = [&](FigureColumn& column, const Value& value, int digits, bool shown) {
      if (shown)
        column.add(mean_text(line, k, value, digits), line.size(), mean_of(line, k, value));
      else
        column.add(dash, line.size(), std::nullopt);
    };
    add(nats, &Measured::nats, 4, true);
    add(bits, &Measured::bits, 4, shows(first, PublishedUnit::bits));
    add(perplexity, &Measured::perplexity, 2, shows(first, PublishedUnit::perplexity));
    add(per_byte, &Measured::bits_per_byte, 4, shows_per_byte);
    for (std::size_t i = 0; i < scores.size(); ++i) add(scores[i], score_of(task_scores[i].first), 2, true);
    const auto of_each = [&](const auto& text) {
      return joined(line,
                    [&](const MeasuredRun& row) { return row.measured[k] ? text(*row.measured[k]) : dash; });
    };
    symbols.add(
        of_each([](const Measured& it) { return it.symbols > 0 ? fmt::format("{}", it.symbols) : dash; }),
        line, [&](const MeasuredRun& row) {
          const std::optional<Measured>& it = row.measured[k];
          return it && it->symbols > 0 ? std::optional(static_cast<double>(it->symbols)) : std::nullopt;
        });
    read.cells.push_back(of_each([](const Measured& it) { return it.read; }));
  }
  const bool is_measured = std::any_of(lines.begin(), lines.end(), [&](const MeasuredRuns& line) {
    return std::any_of(line.begin(), line.end(),
                       [&](const MeasuredRun& row) { return row.measured[k].has_value(); });
  });
  if ((!kind.is_plain() || kind.split == "speakers") && !is_measured) return;
  // Nats are a detail where each row has another figure as well.
  std::vector<FigureColumn> others = scores;
  others.insert(others.end(), {bits, perplexity});
  bool is_shown_otherwise = true;
  for (std::size_t i = 0; i < lines.size(); ++i)
    is_shown_otherwise &=
        nats.is_missing(i) ||
        std::any_of(others.begin(), others.end(), [&](const FigureColumn& it) { return !it.is_missing(i); });
  paper.in_csv = {figures, units};
  if (!is_empty(paper)) columns.push_back(paper);
  for (const FigureColumn& score : scores)
    if (!score.is_empty()) columns.push_back(score.column());
  if (kind.is_plain()) {
    columns.push_back(nats.column());
    if (is_shown_otherwise) columns.back().shown = ColumnShown::as_a_detail;
  }
  if (!bits.is_empty()) columns.push_back(bits.column());
  if (!perplexity.is_empty()) columns.push_back(perplexity.column());
  if (!per_byte.is_empty()) columns.push_back(per_byte.column());
  if (kind.is_plain() && (!symbols.is_empty() || nats.is_empty())) {
    columns.push_back(symbols.column());
    columns.back().shown = ColumnShown::as_a_detail;
  }
  read.shown = ColumnShown::if_it_differs;
  if (kind.is_plain() && !is_empty(read)) columns.push_back(read);
}

namespace {

/// The names of the figures of vectors of sentences, by their keys, and their digits.
struct FigureName {
  const char *key, *name;
  int digits;
};
constexpr FigureName sentence_figures[] = {{"pearson", "r", 4},
                                           {"spearman", "rho", 4},
                                           {"mse", "MSE", 4},
                                           {"accuracy", "accuracy", 2},
                                           {"f1", "F1", 2}};

std::string number_text(double value, int digits) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : dash;
}

/// A figure of a set, and that of the means of word vectors.
std::optional<std::pair<double, double>> sentence_figure(const MeasuredRun& row, const std::string& set,
                                                         const FigureName& figure) {
  for (const SentenceSetFigures& it : row.sentences)
    for (std::size_t i = 0; it.set == set && i < it.vectors.size(); ++i)
      if (it.vectors[i].first == figure.key) return {{it.vectors[i].second, it.word_means.at(i).second}};
  return std::nullopt;
}

}  // namespace

void add_sentence_figures(TextTable& columns, const std::vector<MeasuredRuns>& lines) {
  std::vector<std::string> sets;
  for (const MeasuredRuns& line : lines)
    for (const MeasuredRun& row : line)
      for (const SentenceSetFigures& it : row.sentences)
        if (std::find(sets.begin(), sets.end(), it.set) == sets.end()) sets.push_back(it.set);
  for (const std::string& set : sets)
    for (const FigureName& figure : sentence_figures) {
      FigureColumn vectors(fmt::format("{} {}", set, figure.name)), word_means = vectors;
      for (const MeasuredRuns& line : lines) {
        const std::string shown = joined(line, [&](const MeasuredRun& row) {
          const auto it = sentence_figure(row, set, figure);
          return it ? fmt::format("{} ({})", number_text(it->first, figure.digits),
                                  number_text(it->second, figure.digits))
                    : dash;
        });
        const auto number = [&](auto member) {
          return [&, member](const MeasuredRun& row) {
            const auto it = sentence_figure(row, set, figure);
            return it ? std::optional((*it).*member) : std::nullopt;
          };
        };
        vectors.add(shown, line, number(&std::pair<double, double>::first));
        word_means.add(shown, line, number(&std::pair<double, double>::second));
      }
      if (vectors.is_empty()) continue;
      columns.push_back(vectors.column());
      const TextColumn of_words = word_means.column(fmt::format("{} {} of word means", set, figure.name));
      columns.back().in_csv.insert(columns.back().in_csv.end(), of_words.in_csv.begin(),
                                   of_words.in_csv.end());
    }
}

}  // namespace rondo

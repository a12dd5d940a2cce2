// `lm table`: see table.h. First a run folder becomes a Row, then all rows become text, Markdown or JSON.
#include "lm/table.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "lm/command_line.h"
#include "lm/json_lines.h"
#include "lm/measurement.h"
#include "lm/model.h"
#include "lm/progress.h"
#include "lm/published.h"
#include "lm/run.h"
#include "lm/training.h"

namespace rondo {
namespace {

using Json = nlohmann::ordered_json;

/// Of one split: what an evaluation wrote into the log, or what is kept in evaluations.jsonl.
struct Measured {
  double nats = 0, bits = 0, perplexity = 0;
  std::int64_t symbols = 0;
  std::string read;  // how; empty in logs of older versions
};

/// What is measured of a run beside the validation text, in the order of columns.
struct Kind {
  std::string name;
  bool dynamic, cache;
};
const std::vector<Kind> kinds = {{"test", false, false},
                                 {"test dynamic", true, false},
                                 {"test cache", false, true},
                                 {"test both", true, true}};

struct Row {
  std::string run;
  RunConfig config;
  std::int64_t vocabulary_size = 0, parameters = 0;
  bool finished = false;
  std::int64_t epochs = 0;                 // the last that was evaluated; 0: none
  std::optional<double> training_seconds;  // up to that evaluation; none in logs of older versions
  std::optional<Measured> valid;           // the best
  std::vector<std::optional<Measured>> tests{kinds.size()};  // of the best model

  const Recipe& recipe() const { return config.recipe; }
  const std::optional<Measured>& test() const { return tests.front(); }
  bool is_finetuned() const { return !config.made_by.finetuned_from.empty(); }
  bool is_of_the_papers_text() const {
    return test() ? may_be_the_papers(recipe().published, vocabulary_size, test()->symbols)
                  : may_be_the_papers(recipe().published, vocabulary_size);
  }
};

/// One line of log.jsonl; false if it is none. Those of training steps say nothing that a table shows.
bool read_log_line(const Json& entry, Row& row) {
  const auto split = entry.find("split");
  if (split == entry.end()) return entry.at("step").is_number();
  const Measured measured{entry.at("nats"), entry.at("bits"), entry.at("perplexity"), entry.at("symbols"),
                          entry.value("read", "")};
  if (*split == "test") {
    if (!row.tests.front()) row.tests.front() = measured;  // what follows is read in another way
    row.finished = true;
    return true;
  }
  if (entry.at("best").get<bool>()) row.valid = measured;
  if (!entry.contains("epoch")) return *split == "valid";  // the best model once more
  row.tests.front().reset();                               // of a training that has gone on
  row.finished = false;
  row.epochs = entry.at("epoch");
  row.training_seconds.reset();
  if (const auto seconds = entry.find("training_seconds"); seconds != entry.end() && !seconds->is_null())
    row.training_seconds = seconds->get<double>();
  return *split == "valid";
}

/// The last measurements of each kind; those that are read as final figures are before those that are not.
void take_measurements(const std::vector<KeptMeasurement>& kept, Row& row) {
  // Of a line's end only whether there is one is said.
  const std::string final_reading = rondo::final_reading(row.recipe(), 0).text();
  const auto take = [&](std::optional<Measured>& into, const KeptMeasurement& it, bool adapts) {
    if (into && !adapts && into->read == final_reading && it.read != final_reading) return;
    into = Measured{it.nats, it.bits, it.perplexity, it.symbols, it.read};
  };
  for (const KeptMeasurement& it : kept) {
    const bool adapts = it.dynamic || it.cache;
    if (it.split == "valid" && !adapts) take(row.valid, it, false);
    if (it.split != "test") continue;
    for (std::size_t k = 0; k < kinds.size(); ++k)
      if (kinds[k].dynamic == it.dynamic && kinds[k].cache == it.cache) take(row.tests[k], it, adapts);
  }
}

/// Of a run; or of what is kept of one in docs/runs, without its vocabulary and model.
Row row_of(const std::string& path) {
  const RunFolder folder = open_run_folder(path);
  Row row;
  row.run = path;
  row.config = read_config(folder);
  const std::vector<KeptMeasurement> kept = kept_measurements(folder);
  if (std::filesystem::exists(folder.vocabulary()) || kept.empty()) {
    row.vocabulary_size = Vocabulary::load(folder.vocabulary(), tokenization_of(row.recipe())).size();
    row.parameters =
        LanguageModel(model_options(row.recipe()), row.vocabulary_size, std::nullopt).parameter_count();
  } else {
    row.vocabulary_size = kept.back().vocabulary_size;
    row.parameters = kept.back().parameters;
  }
  read_json_lines(folder.log(), "`lm train` writes into its log",
                  [&](const Json& entry) { return read_log_line(entry, row); });
  take_measurements(kept, row);
  if (!row.finished && row.valid && std::filesystem::exists(folder.state()))  // a text without a test text
    row.finished = is_finished(row.recipe(), folder.state());
  return row;
}

// ---- JSON.

Json json_of(const std::optional<Measured>& it) {
  Json json{
      {"nats", nullptr}, {"bits", nullptr}, {"perplexity", nullptr}, {"symbols", nullptr}, {"read", nullptr}};
  if (!it) return json;
  json = {{"nats", it->nats}, {"bits", it->bits}, {"perplexity", it->perplexity}, {"symbols", it->symbols}};
  json["read"] = it->read.empty() ? Json() : Json(it->read);
  return json;
}

Json json_of(const Row& row) {
  const Recipe& recipe = row.recipe();
  Json json{{"run", row.run},
            {"recipe", recipe.name},
            {"paper", recipe.paper},
            {"unit", recipe.data.unit},
            {"seed", recipe.train.seed},
            {"finetuned", row.is_finetuned()},
            {"vocabulary_size", row.vocabulary_size},
            {"parameters", row.parameters},
            {"published", published_json(recipe.published)},
            {"is_of_published_text", row.is_of_the_papers_text()},
            {"valid", json_of(row.valid)}};
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    std::string key = kinds[k].name;
    std::replace(key.begin(), key.end(), ' ', '_');
    json[key] = json_of(row.tests[k]);
  }
  json["finished"] = row.finished;
  json["epochs"] = row.epochs;
  json["epochs_planned"] = recipe.train.epochs;
  json["training_seconds"] = row.training_seconds ? Json(*row.training_seconds) : Json();
  return json;
}

// ---- Text and Markdown: runs that differ in their seed alone are one line.

using Rows = std::vector<Row>;

/// What runs of one line have in common: all settings but the seed, and the text.
std::string kind_of(const Row& row) {
  Recipe recipe = row.recipe();
  recipe.train.seed = 0;
  std::vector<std::string> digests;
  for (const std::string& line : row.config.made_by.sha256) digests.push_back(line.substr(0, line.find(' ')));
  return fmt::format("{}\n{}\n{}\n{}", write_toml(keys_of(recipe)), row.is_finetuned(), row.vocabulary_size,
                     fmt::join(digests, "\n"));
}

/// Lines in the order of their first runs.
std::vector<Rows> lines_of(const Rows& rows) {
  std::vector<Rows> lines;
  std::vector<std::string> of;
  for (const Row& row : rows) {
    const std::string kind = kind_of(row);
    const auto at = static_cast<std::size_t>(std::find(of.begin(), of.end(), kind) - of.begin());
    if (at == of.size()) of.push_back(kind), lines.emplace_back();
    lines[at].push_back(row);
  }
  return lines;
}

/// Why a published figure is not beside those of a run, on stderr.
void say_other_texts(const Rows& rows) {
  for (const Row& row : rows) {
    const Recipe::Published& published = row.recipe().published;
    if (published_text(published).empty() || row.is_of_the_papers_text()) continue;
    fmt::print(stderr,
               "lm: {}: {} types, {} symbols scored of its test text; published figures of {} are of a "
               "text of {} types and {} test symbols, and so are left out (0: not known)\n",
               row.run, row.vocabulary_size, row.test() ? row.test()->symbols : 0, row.recipe().name,
               published.vocabulary, published.test_symbols);
  }
}

/// What has no figure.
const std::string dash = "-";

/// The recipe's name; of a single run the folder's, too, where that is another.
std::string name_of(const Rows& line) {
  const Row& row = line.front();
  const std::string recipe = row.recipe().name + (row.is_finetuned() ? ", finetuned" : "");
  if (line.size() > 1) return recipe;
  const std::filesystem::path path = std::filesystem::absolute(row.run).lexically_normal() / "";
  const std::string folder = path.parent_path().filename().string();
  return folder == recipe ? folder : fmt::format("{} ({})", recipe, folder);
}

std::string epochs_of(const Row& row) {
  std::string text = fmt::format("{}", row.epochs);
  if (row.epochs != row.recipe().train.epochs) text += fmt::format(" of {}", row.recipe().train.epochs);
  return row.finished ? text : text + ", unfinished";
}

/// The texts of a line's runs, once where they are the same.
template <class Text>
std::string joined(const Rows& line, Text text) {
  std::vector<std::string> texts;
  for (const Row& row : line)
    if (const std::string it = text(row); std::find(texts.begin(), texts.end(), it) == texts.end())
      texts.push_back(it);
  return fmt::format("{}", fmt::join(texts, "; "));
}

/// The figure of one run, or the mean of several and their standard deviation; behind them how many have it,
/// if not all of a line.
std::string figure_of(const std::vector<double>& figures, std::size_t runs, int digits) {
  if (figures.empty()) return dash;
  const double n = static_cast<double>(figures.size());
  const double mean = std::accumulate(figures.begin(), figures.end(), 0.0) / n;
  std::string text = fmt::format("{:.{}f}", mean, digits);
  if (figures.size() > 1) {
    double squares = 0;
    for (const double it : figures) squares += (it - mean) * (it - mean);
    text += fmt::format(" ± {:.{}f}", std::sqrt(squares / (n - 1)), digits);
  }
  return figures.size() == runs ? text : fmt::format("{} ({})", text, figures.size());
}

struct Column {
  std::string name;
  bool is_text = false;            // to the left; numbers stand to the right
  std::vector<std::string> cells;  // a line each
};

bool is_empty(const Column& column) {
  return std::all_of(column.cells.begin(), column.cells.end(),
                     [](const std::string& cell) { return cell == dash; });
}

/// Perplexity is what is reported of words, bits of characters and bytes; where a paper does otherwise, its
/// unit is shown, too.
bool shows(const Row& row, const std::string& unit) {
  const bool words = row.recipe().data.unit == "words";
  const Recipe::Published& published = row.recipe().published;
  const auto has = [](const Recipe::Published::Figures& it) { return it.valid > 0 || it.test > 0; };
  return words == (unit == "perplexity") || (has(published.trained) && published.unit == unit);
}

/// The figures of one split: `measured(row)` of what `published(row)` is of. Nats, symbols and how the text
/// was read stand beside figures of models that do not adapt; the others have all of that in JSON.
template <class Get, class Published>
void add_figures(std::vector<Column>& columns, const std::vector<Rows>& lines, const std::string& name,
                 bool in_full, Get measured, Published published) {
  Column paper{name + " published", false, {}}, nats{name + " nats", false, {}},
      bits{name + " bits", false, {}}, perplexity{name + " perplexity", false, {}},
      symbols{name + " symbols", false, {}}, read{name + " read in", true, {}};
  for (const Rows& line : lines) {
    const Row& first = line.front();
    const double figure = first.is_of_the_papers_text() ? published(first) : 0;
    paper.cells.push_back(figure > 0 ? fmt::format("{} {}", figure, first.recipe().published.unit) : dash);
    const auto add = [&](Column& column, double Measured::*member, int digits, bool shown) {
      std::vector<double> figures;
      for (const Row& row : line)
        if (const auto& it = measured(row); it && shown) figures.push_back((*it).*member);
      column.cells.push_back(figure_of(figures, shown ? line.size() : 0, digits));
    };
    add(nats, &Measured::nats, 4, true);
    add(bits, &Measured::bits, 4, shows(first, "bits"));
    add(perplexity, &Measured::perplexity, 2, shows(first, "perplexity"));
    const auto of_each = [&](const auto& text) {
      return joined(line, [&](const Row& row) {
        const auto& it = measured(row);
        return it ? text(*it) : dash;
      });
    };
    symbols.cells.push_back(of_each([](const Measured& it) { return fmt::format("{}", it.symbols); }));
    read.cells.push_back(of_each([](const Measured& it) { return it.read.empty() ? dash : it.read; }));
  }
  if (!in_full && is_empty(nats)) return;
  if (!is_empty(paper)) columns.push_back(paper);
  if (in_full) columns.push_back(nats);
  if (!is_empty(bits)) columns.push_back(bits);
  if (!is_empty(perplexity)) columns.push_back(perplexity);
  if (in_full) columns.push_back(symbols);
  if (in_full && !is_empty(read)) columns.push_back(read);
}

std::vector<Column> columns_of(const Rows& rows) {
  const std::vector<Rows> lines = lines_of(rows);
  Column name{"recipe", true, {}}, runs{"runs", false, {}}, parameters{"parameters", false, {}},
      epochs{"epochs", true, {}}, time{"training time", false, {}};
  for (const Rows& line : lines) {
    name.cells.push_back(name_of(line));
    runs.cells.push_back(fmt::format("{}", line.size()));
    parameters.cells.push_back(fmt::format("{}", line.front().parameters));
    epochs.cells.push_back(joined(line, epochs_of));
    time.cells.push_back(joined(line, [](const Row& row) {
      return row.training_seconds ? duration_text(*row.training_seconds) : dash;
    }));
  }
  std::vector<Column> columns{name};
  if (lines.size() < rows.size()) columns.push_back(runs);
  columns.push_back(parameters);
  const auto published = [](const std::string& split, const Kind& kind) {
    return [&, split](const Row& row) {
      return published_figure(row.recipe().published, row.is_finetuned(), split, kind.dynamic, kind.cache);
    };
  };
  for (std::size_t k = 0; k < kinds.size(); ++k)
    add_figures(
        columns, lines, kinds[k].name, k == 0,
        [k](const Row& row) -> const std::optional<Measured>& { return row.tests[k]; },
        published("test", kinds[k]));
  add_figures(
      columns, lines, "valid", true,
      [](const Row& row) -> const std::optional<Measured>& { return row.valid; },
      published("valid", kinds.front()));
  columns.push_back(epochs);
  columns.push_back(time);
  return columns;
}

/// The header takes two lines, or the table would be wider than its numbers.
std::string text_table(const std::vector<Column>& columns) {
  const std::size_t rows = columns.front().cells.size();
  std::vector<std::string> lines(rows + 2);
  for (const Column& column : columns) {
    const std::size_t space = column.name.find(' ');
    std::vector<std::string> cells{space == std::string::npos ? "" : column.name.substr(0, space),
                                   column.name.substr(space + 1)};
    cells.insert(cells.end(), column.cells.begin(), column.cells.end());
    const auto letters = [](const std::string& cell) {  // of UTF-8
      return static_cast<std::size_t>(
          std::count_if(cell.begin(), cell.end(), [](char it) { return (it & 0xC0) != 0x80; }));
    };
    std::size_t width = 0;
    for (const std::string& cell : cells) width = std::max(width, letters(cell));
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (&column != &columns.front()) lines[i] += "  ";
      lines[i] +=
          column.is_text ? fmt::format("{:<{}}", cells[i], width) : fmt::format("{:>{}}", cells[i], width);
    }
  }
  std::string text;
  for (const std::string& line : lines) text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  return text;
}

std::string markdown_table(const std::vector<Column>& columns) {
  std::vector<std::string> lines(columns.front().cells.size() + 2, "|");
  for (const Column& column : columns) {
    lines[0] += fmt::format(" {} |", column.name);
    lines[1] += column.is_text ? "---|" : "---:|";
    for (std::size_t i = 0; i < column.cells.size(); ++i) {
      std::string cell;
      for (const char letter : column.cells[i])
        cell += letter == '|' ? std::string("\\|") : std::string(1, letter);
      lines[i + 2] += &column == &columns.front() ? fmt::format(" `{}` |", cell) : fmt::format(" {} |", cell);
    }
  }
  return fmt::format("{}\n", fmt::join(lines, "\n"));
}

}  // namespace

int table(const TableOptions& options) {
  std::vector<Row> rows;
  int status = 0;
  for (const std::string& run : options.runs) {
    try {
      rows.push_back(row_of(run));
    } catch (const InputError&) {  // costs its row, not the others
      const Failure failure = current_failure();
      fmt::print(stderr, "{}\n", failure.line);
      status = failure.exit_status;
    }
  }
  if (rows.empty()) return status;
  if (options.json) {
    Json list = Json::array();
    for (const Row& row : rows) list.push_back(json_of(row));
    fmt::print("{}\n", Json{{"runs", list}}.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    fmt::print("{}", options.markdown ? markdown_table(columns_of(rows)) : text_table(columns_of(rows)));
    say_other_texts(rows);
  }
  return status;
}

}  // namespace rondo

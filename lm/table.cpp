// `lm table`: see table.h. First a run folder becomes a Row, then all rows become text, Markdown or JSON.
#include "lm/table.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
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
  std::string read, settings;  // how; of what adapts
};

/// What is measured of a run. `carried`: with the state carried on, where the recipe begins it anew.
struct Kind {
  std::string name, split;
  bool dynamic = false, cache = false, carried = false;

  bool is_plain() const { return !dynamic && !cache && !carried; }
};
const std::vector<Kind> kinds = {
    {"test", "test"},
    {"test carried on", "test", false, false, true},
    {"test dynamic", "test", true},
    {"test cache", "test", false, true},
    {"test both", "test", true, true},
    {"valid", "valid"},
    {"valid dynamic", "valid", true},
    {"valid cache", "valid", false, true},
    {"valid both", "valid", true, true},
};
constexpr std::size_t test_kind = 0, valid_kind = 5;

struct Row {
  std::string run;
  RunConfig config;
  std::int64_t vocabulary_size = 0, types = 0, parameters = 0;
  bool finished = false;
  std::int64_t epochs = 0;                 // the last that was evaluated; 0: none
  std::optional<double> training_seconds;  // up to that evaluation; none in logs of older versions
  std::vector<std::optional<Measured>> measured{kinds.size()};  // of the best model

  const Recipe& recipe() const { return config.recipe; }
  std::optional<Measured>& test() { return measured[test_kind]; }
  std::optional<Measured>& valid() { return measured[valid_kind]; }
  bool is_finetuned() const { return !config.made_by.finetuned_from.empty(); }
  bool is_of_the_papers_text() const {
    const auto& test = measured[test_kind];
    return may_be_the_papers(recipe().published, types, test ? std::optional(test->symbols) : std::nullopt);
  }
  /// The paper's figure of the same kind of model on the same text, read in the same way; 0: none.
  double published(const Kind& kind, const std::optional<Measured>& it) const {
    const bool reads_as_published = !kind.is_plain() || !it || it->read == published_reading(recipe());
    if (kind.carried || !reads_as_published || !is_of_the_papers_text() || !is_published_model(recipe()))
      return 0;
    return published_figure(recipe().published, is_finetuned(), kind.split, kind.dynamic, kind.cache);
  }
};

/// One line of log.jsonl; false if it is none. Those of training steps say nothing that a table shows.
bool read_log_line(const Json& entry, Row& row) {
  const auto split = entry.find("split");
  if (split == entry.end()) return entry.at("step").is_number();
  // Logs of version 0.1 do not say how a text was read: as evaluations during training do it.
  const Measured measured{entry.at("nats"),
                          entry.at("bits"),
                          entry.at("perplexity"),
                          entry.at("symbols"),
                          entry.value("read", validation_reading(row.recipe(), 0).text()),
                          ""};
  if (*split == "test") {
    if (!row.test()) row.test() = measured;  // what follows is read in another way
    row.finished = true;
    return true;
  }
  if (entry.at("best").get<bool>()) row.valid() = measured;
  if (!entry.contains("epoch")) return *split == "valid";  // the best model once more
  row.test().reset();                                      // of a training that has gone on
  row.finished = false;
  row.epochs = entry.at("epoch");
  row.training_seconds.reset();
  if (const auto seconds = entry.find("training_seconds"); seconds != entry.end() && !seconds->is_null())
    row.training_seconds = seconds->get<double>();
  return *split == "valid";
}

/// "HEX  FILE" without the file.
std::vector<std::string> digests_of(const std::vector<std::string>& sha256_lines) {
  std::vector<std::string> digests;
  for (const std::string& line : sha256_lines) digests.push_back(line.substr(0, line.find(' ')));
  return digests;
}

/// The last measurements of each kind on the run's own text, in the run's precision or full. One that is read
/// as published goes before one that is not.
void take_measurements(const std::vector<KeptMeasurement>& kept, Row& row) {
  const std::string exact = published_reading(row.recipe());
  const bool begins_anew = !final_reading(row.recipe(), 0).carries_state();
  const MadeBy& made_by = row.config.made_by;
  for (const KeptMeasurement& it : kept) {
    if (digests_of(it.sha256) != digests_of(made_by.sha256)) continue;
    if (it.precision != "fp32" && it.precision != made_by.precision) continue;
    const bool adapts = it.dynamic || it.cache;
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      const Kind& kind = kinds[k];
      const bool carried = !adapts && begins_anew && it.read == Reading{}.text();
      if (kind.split != it.split || kind.dynamic != it.dynamic || kind.cache != it.cache ||
          kind.carried != carried)
        continue;
      std::optional<Measured>& into = row.measured[k];
      if (into && kind.is_plain() && into->read == exact && it.read != exact) continue;
      into = Measured{it.nats, it.bits, it.perplexity, it.symbols, it.read, it.settings};
    }
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
    const Vocabulary vocabulary = Vocabulary::load(folder.vocabulary(), tokenization_of(row.recipe()));
    row.vocabulary_size = vocabulary.size();
    row.types = vocabulary.types();
    row.parameters =
        LanguageModel(model_options(row.recipe()), row.vocabulary_size, std::nullopt).parameter_count();
  } else {
    row.vocabulary_size = kept.back().vocabulary_size;
    row.types = kept.back().types;
    row.parameters = kept.back().parameters;
  }
  read_json_lines(folder.log(), "`lm train` writes into its log",
                  [&](const Json& entry) { return read_log_line(entry, row); });
  take_measurements(kept, row);
  if (!row.finished && row.valid() && std::filesystem::exists(folder.state()))  // a text without a test text
    row.finished = is_finished(row.recipe(), folder.state());
  return row;
}

// ---- JSON.

Json json_of(const std::optional<Measured>& it) {
  Json json{
      {"nats", nullptr}, {"bits", nullptr}, {"perplexity", nullptr}, {"symbols", nullptr}, {"read", nullptr}};
  if (!it) return json;
  json = {{"nats", it->nats},
          {"bits", it->bits},
          {"perplexity", it->perplexity},
          {"symbols", it->symbols},
          {"read", it->read}};
  if (!it->settings.empty()) json.update(Json::parse(it->settings));
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
            {"published", published_json(recipe.published)}};
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    std::string key = kinds[k].name;
    std::replace(key.begin(), key.end(), ' ', '_');
    json[key] = json_of(row.measured[k]);
    const double figure = row.published(kinds[k], row.measured[k]);
    if (figure > 0) json[key]["published"] = figure;
  }
  json["finished"] = row.finished;
  json["epochs"] = row.epochs;
  json["epochs_planned"] = recipe.train.epochs;
  json["training_seconds"] = row.training_seconds ? Json(*row.training_seconds) : Json();
  return json;
}

// ---- Text and Markdown: finished runs that differ in their seed alone are one line.

using Rows = std::vector<Row>;

/// What runs of one line have in common: text, device, and all settings that act on figures, but the seed.
std::string kind_of(const Row& row) {
  const Recipe defaults;
  Recipe recipe = row.recipe();
  recipe.train.seed = 0;
  recipe.description = recipe.paper = "";
  recipe.published = defaults.published;
  recipe.report = defaults.report;
  recipe.train.log_every = defaults.train.log_every;
  recipe.train.save_every = defaults.train.save_every;
  const MadeBy& made_by = row.config.made_by;
  return fmt::format("{}\n{} {} {} {}\n{}", write_toml(keys_of(recipe)), row.is_finetuned(),
                     row.vocabulary_size, made_by.device, made_by.precision,
                     fmt::join(digests_of(made_by.sha256), "\n"));
}

/// Lines in the order of their first runs. A seed stands in a line once: a second run of it, or a copy, is
/// another line; so is what is not finished.
std::vector<Rows> lines_of(const Rows& rows) {
  std::vector<Rows> lines;
  std::vector<std::string> of;
  for (const Row& row : rows) {
    const std::string kind = kind_of(row);
    const auto fits = [&](std::size_t at) {
      return of[at] == kind && row.finished &&
             std::all_of(lines[at].begin(), lines[at].end(), [&](const Row& other) {
               return other.finished && other.recipe().train.seed != row.recipe().train.seed;
             });
    };
    std::size_t at = 0;
    while (at < lines.size() && !fits(at)) ++at;
    if (at == lines.size()) of.push_back(kind), lines.emplace_back();
    lines[at].push_back(row);
  }
  return lines;
}

/// Why published figures are not beside those of a run, on stderr.
void say_what_is_left_out(const Rows& rows) {
  for (const Row& row : rows) {
    const Recipe::Published& published = row.recipe().published;
    if (published_text(published).empty()) continue;
    if (!is_published_model(row.recipe()))
      fmt::print(stderr,
                 "lm: {}: published figures are left out: settings of the model are not those of the recipe "
                 "{}\n",
                 row.run, row.recipe().name);
    else if (!row.is_of_the_papers_text())
      fmt::print(stderr,
                 "lm: {}: published figures are left out: they are of another text (published.vocabulary = "
                 "{}, here {}; published.test_symbols = {}, here {}; 0: not known)\n",
                 row.run, published.vocabulary, row.types, published.test_symbols,
                 row.measured[test_kind] ? row.measured[test_kind]->symbols : 0);
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
/// if not all `runs` of a line. Of different settings there is no mean.
std::string figure_of(const std::vector<Measured>& all, double Measured::*member, std::size_t runs,
                      int digits) {
  if (all.empty()) return dash;
  const double n = static_cast<double>(all.size());
  double mean = 0, squares = 0;
  for (const Measured& it : all) {
    if (it.settings != all.front().settings) return "several settings";
    mean += it.*member / n;
  }
  for (const Measured& it : all) squares += (it.*member - mean) * (it.*member - mean);
  std::string text = fmt::format("{:.{}f}", mean, digits);
  if (all.size() > 1) text += fmt::format(" ± {:.{}f}", std::sqrt(squares / (n - 1)), digits);
  return all.size() == runs ? text : fmt::format("{} ({})", text, all.size());
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

/// The figures of one kind. Nats, symbols and how the text was read stand beside those of models that do not
/// adapt; the others have all of that in JSON. A mean is of figures with the same settings alone.
void add_figures(std::vector<Column>& columns, const std::vector<Rows>& lines, std::size_t k) {
  const Kind& kind = kinds[k];
  Column paper{kind.name + " published", false, {}}, nats{kind.name + " nats", false, {}},
      bits{kind.name + " bits", false, {}}, perplexity{kind.name + " perplexity", false, {}},
      symbols{kind.name + " symbols", false, {}}, read{kind.name + " read in", true, {}};
  for (const Rows& line : lines) {
    const Row& first = line.front();
    const double figure = first.published(kind, first.measured[k]);
    paper.cells.push_back(figure > 0 ? fmt::format("{} {}", figure, first.recipe().published.unit) : dash);
    std::vector<Measured> all;
    for (const Row& row : line)
      if (row.measured[k]) all.push_back(*row.measured[k]);
    const auto add = [&](Column& column, double Measured::*member, int digits, bool shown) {
      column.cells.push_back(shown ? figure_of(all, member, line.size(), digits) : dash);
    };
    add(nats, &Measured::nats, 4, true);
    add(bits, &Measured::bits, 4, shows(first, "bits"));
    add(perplexity, &Measured::perplexity, 2, shows(first, "perplexity"));
    const auto of_each = [&](const auto& text) {
      return joined(line, [&](const Row& row) { return row.measured[k] ? text(*row.measured[k]) : dash; });
    };
    symbols.cells.push_back(of_each([](const Measured& it) { return fmt::format("{}", it.symbols); }));
    read.cells.push_back(of_each([](const Measured& it) { return it.read; }));
  }
  if (!kind.is_plain() && is_empty(nats)) return;
  if (!is_empty(paper)) columns.push_back(paper);
  if (kind.is_plain()) columns.push_back(nats);
  if (!is_empty(bits)) columns.push_back(bits);
  if (!is_empty(perplexity)) columns.push_back(perplexity);
  if (kind.is_plain()) columns.push_back(symbols);
  if (kind.is_plain() && !is_empty(read)) columns.push_back(read);
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
  for (std::size_t k = 0; k < kinds.size(); ++k) add_figures(columns, lines, k);
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
    say_what_is_left_out(rows);
  }
  return status;
}

}  // namespace rondo

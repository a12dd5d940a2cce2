// `lm table`: see table.h. First a run folder becomes a Row, then all rows become text, Markdown or JSON.
#include "lm/table.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "data/text.h"
#include "lm/command_line.h"
#include "lm/model.h"
#include "lm/progress.h"
#include "lm/published.h"
#include "lm/run.h"
#include "lm/training.h"

namespace rondo {
namespace {

using Json = nlohmann::ordered_json;

/// Of one split: what an evaluation wrote into the log.
struct Measured {
  double nats = 0, bits = 0, perplexity = 0;
  std::int64_t symbols = 0;
};

struct Row {
  std::string run;
  Recipe recipe;
  std::int64_t vocabulary_size = 0, parameters = 0;
  bool finished = false;
  std::int64_t epochs = 0;                 // the last that was evaluated; 0: none
  std::optional<double> training_seconds;  // up to that evaluation; none in logs of older versions
  std::optional<Measured> valid, test;     // the best; that of the best
};

/// One line of log.jsonl; false if it is none. Those of training steps say nothing that a table shows.
bool read_log_line(const Json& entry, Row& row) {
  const auto split = entry.find("split");
  if (split == entry.end()) return entry.at("step").is_number();
  const Measured measured{entry.at("nats"), entry.at("bits"), entry.at("perplexity"), entry.at("symbols")};
  if (*split == "test") {
    row.test = measured;
    return true;
  }
  if (entry.at("best").get<bool>()) row.valid = measured;
  if (!entry.contains("epoch")) return *split == "valid";  // the best model once more
  row.epochs = entry.at("epoch");
  row.training_seconds.reset();
  if (const auto seconds = entry.find("training_seconds"); seconds != entry.end() && !seconds->is_null())
    row.training_seconds = seconds->get<double>();
  return *split == "valid";
}

void read_log(const std::filesystem::path& path, Row& row) {
  if (!std::filesystem::exists(path)) return;  // stopped before its first line
  const std::string text = read_file(path);
  std::int64_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) break;  // a run that was killed while it wrote; --resume cuts this off
    ++number;
    bool good = false;
    try {
      good = read_log_line(Json::parse(text.substr(begin, end - begin)), row);
    } catch (const nlohmann::json::exception&) {  // not JSON, or without what belongs there
    }
    check_input(good, "{}:{}: not a line that `lm train` writes into its log", path.string(), number);
    begin = end + 1;
  }
}

/// Whether a training has come to its end. The test text is scored only then; where there is none, the state
/// tells.
bool is_finished(const Row& row, const RunFolder& folder) {
  if (row.test) return true;
  return row.valid && std::filesystem::exists(folder.state()) &&
         rondo::is_finished(row.recipe, folder.state());
}

Row row_of(const std::string& path) {
  const RunFolder folder = open_run_folder(path);
  Row row;
  row.run = path;
  row.recipe = read_config(folder).recipe;
  row.vocabulary_size = Vocabulary::load(folder.vocabulary(), tokenization_of(row.recipe)).size();
  row.parameters =
      LanguageModel(model_options(row.recipe), row.vocabulary_size, std::nullopt).parameter_count();
  read_log(folder.log(), row);
  row.finished = is_finished(row, folder);
  return row;
}

// ---- JSON.

Json json_of(const std::optional<Measured>& it) {
  Json json{{"nats", nullptr}, {"bits", nullptr}, {"perplexity", nullptr}, {"symbols", nullptr}};
  if (it)
    json = {{"nats", it->nats}, {"bits", it->bits}, {"perplexity", it->perplexity}, {"symbols", it->symbols}};
  return json;
}

Json json_of(const Row& row) {
  const Recipe& recipe = row.recipe;
  Json json{{"run", row.run},
            {"recipe", recipe.name},
            {"paper", recipe.paper},
            {"unit", recipe.data.unit},
            {"vocabulary_size", row.vocabulary_size},
            {"parameters", row.parameters},
            {"published", published_json(recipe.published)},
            {"valid", json_of(row.valid)},
            {"test", json_of(row.test)},
            {"finished", row.finished},
            {"epochs", row.epochs},
            {"epochs_planned", recipe.train.epochs},
            {"training_seconds", nullptr}};
  if (row.training_seconds) json["training_seconds"] = *row.training_seconds;
  return json;
}

// ---- Text and Markdown.

/// What has no figure.
const std::string dash = "-";

/// "lstm", and the folder's name where that is another.
std::string name_of(const Row& row) {
  const std::filesystem::path path = std::filesystem::path(row.run) / "";
  const std::string folder = path.parent_path().filename().string();
  return folder == row.recipe.name ? folder : fmt::format("{} ({})", row.recipe.name, folder);
}

std::string epochs_of(const Row& row) {
  std::string text = fmt::format("{}", row.epochs);
  if (row.epochs != row.recipe.train.epochs) text += fmt::format(" of {}", row.recipe.train.epochs);
  return row.finished ? text : text + ", unfinished";
}

struct Column {
  std::string name;
  bool is_text = false;            // to the left; numbers stand to the right
  std::vector<std::string> cells;  // a row each
};

/// The figures of one split. Perplexity is what is reported of words, bits of characters and bytes; where a
/// paper does otherwise, its unit is shown, too.
void add_split(std::vector<Column>& columns, const std::vector<Row>& rows, const std::string& split,
               double Recipe::Published::Figures::*published, std::optional<Measured> Row::*measured) {
  Column paper{split + " published", false, {}}, nats{split + " nats", false, {}},
      bits{split + " bits", false, {}}, perplexity{split + " perplexity", false, {}},
      symbols{split + " symbols", false, {}};
  for (const Row& row : rows) {
    const auto& it = row.*measured;
    const double figure = row.recipe.published.trained.*published;
    const bool words = row.recipe.data.unit == "words";
    const bool in_perplexity = words || (figure > 0 && row.recipe.published.unit == "perplexity");
    const bool in_bits = !words || (figure > 0 && row.recipe.published.unit == "bits");
    paper.cells.push_back(figure > 0 ? fmt::format("{} {}", figure, row.recipe.published.unit) : dash);
    nats.cells.push_back(it ? fmt::format("{:.4f}", it->nats) : dash);
    bits.cells.push_back(it && in_bits ? fmt::format("{:.4f}", it->bits) : dash);
    perplexity.cells.push_back(it && in_perplexity ? fmt::format("{:.2f}", it->perplexity) : dash);
    symbols.cells.push_back(it ? fmt::format("{}", it->symbols) : dash);
  }
  const auto empty = [](const Column& column) {
    return std::all_of(column.cells.begin(), column.cells.end(),
                       [](const std::string& cell) { return cell == dash; });
  };
  columns.push_back(paper);
  columns.push_back(nats);
  if (!empty(bits)) columns.push_back(bits);
  if (!empty(perplexity)) columns.push_back(perplexity);
  columns.push_back(symbols);
}

std::vector<Column> columns_of(const std::vector<Row>& rows) {
  Column name{"recipe", true, {}}, parameters{"parameters", false, {}}, epochs{"epochs", true, {}},
      time{"training time", false, {}};
  for (const Row& row : rows) {
    name.cells.push_back(name_of(row));
    parameters.cells.push_back(fmt::format("{}", row.parameters));
    epochs.cells.push_back(epochs_of(row));
    time.cells.push_back(row.training_seconds ? duration_text(*row.training_seconds) : dash);
  }
  std::vector<Column> columns{name, parameters};
  add_split(columns, rows, "test", &Recipe::Published::Figures::test, &Row::test);
  add_split(columns, rows, "valid", &Recipe::Published::Figures::valid, &Row::valid);
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
    std::size_t width = 0;
    for (const std::string& cell : cells) width = std::max(width, cell.size());
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
  }
  return status;
}

}  // namespace rondo

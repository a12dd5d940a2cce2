// `lm score`: the probability of each line of files or of standard input.
//
// A line is read as in training: its context is the end of a line, so that every symbol of the line is
// scored, including its own end. Only if the training text had no line end (one line), the first symbol is
// context and nothing ends the line. Lines are read side by side, and what they begin with in common is
// computed once; or one by one: then a row appears as soon as its line is read. The rows of words come at the
// end.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <numbers>
#include <numeric>
#include <optional>
#include <random>
#include <regex>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "autograd/sequence.h"
#include "data/files/input_file.h"
#include "data/ngram/arpa.h"
#include "data/text/streams.h"
#include "data/text/text.h"
#include "data/text/unicode.h"
#include "lm/commands/options.h"
#include "lm/commands/requests.h"
#include "lm/evaluation/evaluation.h"
#include "lm/program/compute.h"
#include "lm/program/files.h"
#include "lm/program/run.h"
#include "lm/program/terminal.h"
#include "lm/report/evaluation_report.h"
#include "lm/report/text_table.h"
#include "tensor/error.h"

namespace rondo {

namespace {

struct ScoreOptions : ComputeOptions {
  std::string run;
  std::vector<std::string> with;   // further models, whose probabilities are interpolated with the run's
  std::vector<double> weights;     // of all models; empty: equal ones
  std::vector<std::string> files;  // empty: standard input
  bool stateful = false;           // the state is carried from line to line
  bool per_symbol = false;         // a row for each symbol
  bool totals = false;             // a row for each file
  bool compares = false;           // a row for each further model: its difference to the run
  bool words = false;              // a row for each word that stands in the text
  std::string column;              // of tables, which has the lines; empty: files of lines
  TableForm* form = text_of;       // of the rows of words
  bool json_lines = false;
};

// --- Models ---

/// The symbols of a line; the first one is context.
using Ids = std::vector<std::int32_t>;
/// -log p in nats of each symbol of a line but the first.
using Nats = std::vector<double>;

/// A model of lines; `begins` if they are the first ones of a text.
using LineScorer = std::function<std::vector<Nats>(const std::vector<Ids>& lines, bool begins)>;

/// A run as a LineScorer.
class RunScorer {
 public:
  RunScorer(std::shared_ptr<LanguageModel> model, bool carries_state)
      : model_(std::move(model)), carries_state_(carries_state) {}

  std::vector<Nats> operator()(const std::vector<Ids>& lines, bool begins) {
    if (begins) states_.clear();
    std::vector<std::size_t> order(lines.size());  // the longest first
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return lines[a].size() > lines[b].size(); });
    std::vector<std::span<const std::int32_t>> sequences;
    for (const std::size_t i : order) sequences.emplace_back(lines[i]);
    std::vector<Nats> nats(lines.size());
    SharedPrefixes prefixes(sequences, rows_at_once);
    for (SharedPrefixes::Piece piece; prefixes.next(piece);) {
      if (carries_state_) piece.chunk.from_zero_state = states_.empty();
      const std::vector<real> of_piece = read(piece.chunk, piece.continues);
      for (std::size_t i = 0; i < sequences.size(); ++i)
        for (std::int64_t t = 0; t < prefixes.steps(i); ++t)
          nats[order[i]].push_back(
              of_piece[static_cast<std::size_t>(t * piece.chunk.streams + prefixes.stream(i))]);
    }
    return nats;
  }

 private:
  /// Each stream of the chunk continues the stream `continues` of the last one, except where a chunk begins
  /// from the initial state.
  std::vector<real> read(const Chunk& chunk, const Ids& continues) {
    const NoGradient guard;
    auto [output, after] =
        model_->forward({tokens(chunk.inputs), chunk.steps, chunk.streams}, states_before(chunk, continues));
    states_ = std::move(after);
    return model_->cross_entropy(output, tokens(chunk.targets)).each.to_vector();
  }

  std::vector<State> states_before(const Chunk& chunk, const Ids& continues) const {
    if (chunk.from_zero_state) return model_->initial_states(chunk.streams);
    Ids same(static_cast<std::size_t>(states_.front().h.shape()[0]));
    std::iota(same.begin(), same.end(), 0);
    if (continues == same) return states_;
    const Tokens rows = tokens(continues);
    return mapped(states_, [&](const Variable& x) { return gather_rows(x, rows); });
  }

  std::shared_ptr<LanguageModel> model_;
  bool carries_state_;
  std::vector<State> states_;  // at the end of the last chunk
};

/// An n-gram model as a LineScorer: each line starts from `<s>`. `ids` are its ids of the run's symbols.
LineScorer scorer_of(Arpa arpa, Ids ids) {
  return [arpa = std::move(arpa), ids = std::move(ids)](const std::vector<Ids>& lines, bool /*begins*/) {
    std::vector<Nats> nats;
    for (const Ids& line : lines) {
      Ids of_model;
      for (const std::int32_t id : line) of_model.push_back(ids.at(static_cast<std::size_t>(id)));
      Nats& of_line = nats.emplace_back();
      for (const double log_p : log_probabilities(arpa.model, of_model, arpa.vocabulary.line_end_id()))
        of_line.push_back(-log_p);
      if (!of_line.empty()) of_line.erase(of_line.begin());
    }
    return nats;
  };
}

/// What each model needs for a line.
struct ScoredLine {
  std::vector<double> bits{};
  std::int64_t symbols = 0;
};

/// A run and further models of its vocabulary. Their probabilities of each symbol are averaged by weights
/// (linear interpolation), so that those of all symbols sum to 1 again.
class Interpolation {
 public:
  /// InputErrors of open_run() and read_arpa(), and for another vocabulary, another number of weights, and
  /// weights that are all 0.
  Interpolation(const ScoreOptions& options, Device device)
      : run_(options.run),
        carries_state_(options.stateful),
        compares_(options.compares),
        weights_(options.weights) {
    add_run(options.run, device);
    for (const std::string& path : options.with)
      if (file_is_there(path) && !std::filesystem::is_directory(path))
        add_ngrams(path);
      else
        add_run(path, device);
    check_input(weights_.empty() || weights_.size() == models_.size(),
                "--weights: give one for RUN and one for each --with, here {}, not {}", models_.size(),
                weights_.size());
    if (weights_.empty()) weights_.assign(models_.size(), 1);
    const double sum = std::accumulate(weights_.begin(), weights_.end(), 0.0);
    check_input(sum > 0 && std::isfinite(sum), "--weights: at least one must be above 0");
    for (double& weight : weights_) weight /= sum;
  }

  const Vocabulary& vocabulary() const { return *vocabulary_; }
  /// Whether it is in all runs.
  bool unknown_is_trained() const { return unknown_is_trained_; }
  /// The lines so far, if models are compared.
  const std::vector<ScoredLine>& scored() const { return scored_; }

  /// As a LineScorer.
  std::vector<Nats> nats_of(const std::vector<Ids>& lines, bool begins) {
    std::vector<std::vector<Nats>> of_each;
    for (const LineScorer& model : models_) of_each.push_back(model(lines, begins));
    if (compares_)
      for (std::size_t i = 0; i < lines.size(); ++i) {
        ScoredLine& line = scored_.emplace_back(ScoredLine{.symbols = std::ssize(of_each.front()[i])});
        for (const std::vector<Nats>& it : of_each)
          line.bits.push_back(std::accumulate(it[i].begin(), it[i].end(), 0.0) / std::numbers::ln2);
      }
    std::vector<Nats> mixed = of_each.front();
    if (models_.size() == 1) return mixed;
    for (std::size_t i = 0; i < lines.size(); ++i)
      for (std::size_t t = 0; t < mixed[i].size(); ++t) {
        std::vector<double> nats;
        for (const std::vector<Nats>& it : of_each) nats.push_back(it[i][t]);
        mixed[i][t] = mixed_nats(nats);
      }
    return mixed;
  }

 private:
  /// -log of the weighted sum of exp(-nats).
  double mixed_nats(const std::vector<double>& nats) const {
    double least = std::numeric_limits<double>::infinity(), sum = 0;
    for (std::size_t m = 0; m < nats.size(); ++m)
      if (weights_[m] > 0) least = std::min(least, nats[m]);
    if (!std::isfinite(least)) return least;
    for (std::size_t m = 0; m < nats.size(); ++m)
      if (weights_[m] > 0) sum += weights_[m] * std::exp(least - nats[m]);
    return least - std::log(sum);
  }

  void add_run(const std::string& path, Device device) {
    OpenRun run = open_run(path, device);
    const Vocabulary& vocabulary = run.task_as<LanguageModellingTask>("language_modelling").vocabulary();
    if (!vocabulary_) vocabulary_ = vocabulary;
    const Tokenization &of_first = vocabulary_->tokenization(), &of_this = vocabulary.tokenization();
    const bool has_same_unit = of_first.unit == of_this.unit && of_first.strip_lines == of_this.strip_lines &&
                               of_first.tokenize == of_this.tokenize &&
                               of_first.lowercase == of_this.lowercase;
    check_input(has_same_unit && vocabulary_->to_text() == vocabulary.to_text(),
                "--with {}: its vocabulary is not that of {}: only probabilities of the same symbols can be "
                "averaged{}",
                path, run_, has_same_unit ? "; data.vocabulary_file trains a run with another's" : "");
    unknown_is_trained_ &= rondo::unknown_is_trained(run.config, vocabulary);
    std::shared_ptr<LanguageModel> model(dynamic_cast<LanguageModel*>(run.model.release()));
    models_.emplace_back(RunScorer(std::move(model), carries_state_));
  }

  void add_ngrams(const std::string& arpa) {
    Arpa it = read_arpa(arpa, vocabulary_->tokenization());
    const auto check_same_symbols = [&](bool ok, const std::string& symbol) {
      check_input(ok, "--with {}: only one of it and {} has '{}', and both must have the same symbols", arpa,
                  run_, escape_symbol(symbol));
    };
    Ids ids;
    for (std::int32_t symbol = 0; symbol < vocabulary_->size(); ++symbol) {
      const auto id = it.vocabulary.id(vocabulary_->symbol(symbol));
      check_same_symbols(id.has_value(), vocabulary_->symbol(symbol));
      ids.push_back(*id);
    }
    for (std::int32_t id = 0; id < it.vocabulary.size(); ++id) {
      const std::string& symbol = it.vocabulary.symbol(id);
      check_same_symbols(symbol == unknown_symbol || vocabulary_->id(symbol), symbol);
    }
    models_.push_back(scorer_of(std::move(it), std::move(ids)));
  }

  std::string run_;
  bool carries_state_, compares_;
  std::vector<ScoredLine> scored_{};
  std::optional<Vocabulary> vocabulary_;
  std::vector<LineScorer> models_;
  std::vector<double> weights_;  // their sum is 1
  bool unknown_is_trained_ = true;
};

// --- Rows ---

/// Sums over lines.
struct Totals {
  double log_probability = 0;
  std::int64_t symbols = 0, unknowns = 0, lines = 0;

  void add(const Totals& other) {
    log_probability += other.log_probability;
    symbols += other.symbols;
    unknowns += other.unknowns;
    lines += other.lines;
  }
  void print(const std::string& name) const {
    fmt::print(
        "{}\t{:.6f}\t{}\t{}\t{}\t{}\n", name, log_probability, symbols, unknowns, lines,
        symbols > 0 ? fmt::format("{:.4f}", std::exp(-log_probability / static_cast<double>(symbols))) : "-");
  }
};

/// A line as text to encode, and how it ends.
std::pair<std::string, LastLine> text_to_encode(const Vocabulary& vocabulary, const std::string& line) {
  std::string text = text_of_line(line, vocabulary.tokenization().unit);
  const bool has_end = vocabulary.line_end_id().has_value();
  if (!has_end) text.pop_back();
  return {std::move(text), has_end ? LastLine::ends : LastLine::goes_on};
}

/// A line as ids. InputError naming the line if it is not text of the vocabulary's unit.
Ids encode_line(const Vocabulary& vocabulary, const InputLine& line) {
  if (is_utf8(vocabulary.tokenization().unit)) code_points(line.text, line.name);
  const auto [text, last] = text_to_encode(vocabulary, line.text);
  return vocabulary.encode(text, line.name, last).ids;
}

// --- Words ---

/// The rows of words. Before them stand the cells of a table's row, if the lines come from its column
/// `place`.
TextTable table_of_words(const std::vector<std::string_view>& names = {}, std::size_t place = 0) {
  TextTable table;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (i != place) table.columns.push_back({std::string(names[i]), true, true});
  for (const char* name : {"line", "index", "word", "symbols", "bits", "unknown"}) {
    const bool is_text = std::string_view(name) == "word";
    table.columns.push_back({name, is_text, is_text});
  }
  return table;
}

/// Adds a row for each word between white space, and one for the line's end. A symbol belongs to the word in
/// which it ends; white space, if it is a symbol or the begin of one, to what follows it.
void add_words(TextTable& table, const Vocabulary& vocabulary, const std::vector<TableCell>& cells,
               const std::string& id, const std::string& line, const Ids& ids, const Nats& nats) {
  const auto [text, last] = text_to_encode(vocabulary, line);
  SymbolReader reader(text, vocabulary.tokenization(), id, last, vocabulary.pieces());
  std::vector<std::size_t> ends;
  while (reader.next()) ends.push_back(reader.position());
  std::size_t at = ends.size() - nats.size();  // the first symbol may be context
  std::vector<std::string_view> words = split_words(text);
  if (vocabulary.line_end_id()) words.push_back(std::string_view(text).substr(text.size() - 1));
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto end = static_cast<std::size_t>(words[i].data() + words[i].size() - text.data());
    const bool is_last = i + 1 == words.size();
    std::int64_t symbols = 0, unknowns = 0;
    double sum = 0;
    for (; at < ends.size() && (is_last || ends[at] <= end); ++at, ++symbols) {
      const std::size_t after = ends.size() - at;
      sum += nats[nats.size() - after];
      unknowns += ids[ids.size() - after] == vocabulary.unknown_id();
    }
    std::vector<TableCell>& row = table.rows.emplace_back(cells);
    for (std::string it : {id, fmt::format("{}", i + 1),
                           std::string(words[i] == "\n" ? eos_symbol : words[i]), fmt::format("{}", symbols),
                           fmt::format("{:.6f}", sum / std::numbers::ln2), fmt::format("{:d}", unknowns > 0)})
      row.emplace_back(std::move(it));
  }
}

/// Without a byte-order mark and a carriage return.
std::string row_of_table(const std::string& line) {
  std::string row = text_of_line(line, Unit::words);
  row.pop_back();
  return row;
}

/// Takes the line out of a row of a table, whose other cells it returns.
std::vector<TableCell> take_line(InputLine& row, std::size_t place, std::size_t columns) {
  const std::string text = row_of_table(row.text);
  const std::vector<std::string_view> fields = split_fields(text);
  check_input(fields.size() == columns, "{}: {} cells, where the first row has {}", row.name, fields.size(),
              columns);
  std::vector<TableCell> cells;
  for (std::size_t i = 0; i < columns; ++i)
    if (i != place) cells.emplace_back(std::string(fields[i]));
  row.text = std::string(fields[place]);
  static const std::regex quoted(R"("([^"]|"")*")");
  check_input(!std::regex_match(row.text, quoted),
              "{}: {} is in quotes, which would be read as parts of words: write the table without", row.name,
              excerpt(row.text));
  return cells;
}

// --- Files ---

/// Prints the rows of a line, whose number is `id`.
Totals print_rows(const ScoreOptions& options, const Vocabulary& vocabulary, const std::string& id,
                  const Ids& ids, const Nats& nats) {
  const std::optional<std::int32_t> unknown = vocabulary.unknown_id();
  const auto begin = ids.empty() ? ids.begin() : ids.begin() + 1;  // after the context
  const Totals it{0 - std::accumulate(nats.begin(), nats.end(), 0.0), ids.end() - begin,
                  unknown ? std::count(begin, ids.end(), *unknown) : 0, 1};
  if (options.per_symbol) {
    for (std::size_t i = 0; i < nats.size(); ++i)
      print_symbol(id, escape_symbol(vocabulary.symbol(begin[static_cast<std::ptrdiff_t>(i)])), nats[i]);
  } else if (!options.totals && !options.words && !options.compares) {
    fmt::print("{:.6f}\t{}\t{}\n", it.log_probability, it.symbols, it.unknowns);
  }
  return it;
}

/// Prints the rows of a file's lines, or adds them up. `begin` begins the numbers of the lines.
Totals score_lines(const ScoreOptions& options, Interpolation& model, InputLines& lines, std::int64_t batch,
                   const std::string& begin, TextTable& words) {
  const Vocabulary& vocabulary = model.vocabulary();
  std::size_t columns = 0, place = 0;  // of a table
  if (std::string header; !options.column.empty() && lines.next(header)) {
    header = row_of_table(header);
    const std::vector<std::string_view> names = split_fields(header);
    columns = names.size();
    place = static_cast<std::size_t>(std::find(names.begin(), names.end(), options.column) - names.begin());
    check_input(std::ranges::count(names, options.column) == 1,
                "{}: not one column '{}', separated by tabs and without quotes", lines.name(),
                options.column);
    TextTable of_file = table_of_words(names, place);
    std::set<std::string_view> known;
    for (const TextColumn& it : of_file.columns)
      check_input(known.insert(it.name).second,
                  "{}: two columns would be called '{}': rename that of the table", lines.name(),
                  printable(it.name));
    const bool is_same =
        std::ranges::equal(of_file.columns, words.columns, {}, &TextColumn::name, &TextColumn::name);
    check_input(words.rows.empty() || is_same, "{}: its columns are not those of the tables before it",
                lines.name());
    if (words.rows.empty()) words = std::move(of_file);
  }
  std::optional<std::int32_t> context = vocabulary.line_end_id();
  Totals totals;
  answer_lines(lines, batch, [&](std::vector<InputLine> some) {
    std::vector<Ids> ids;
    std::vector<std::vector<TableCell>> cells;
    for (InputLine& line : some) {
      cells.push_back(columns == 0 ? std::vector<TableCell>() : take_line(line, place, columns));
      ids.push_back(encode_line(vocabulary, line));
    }
    for (Ids& it : ids) {
      if (context) it.insert(it.begin(), *context);
      if (options.stateful && !it.empty()) context = it.back();  // with line ends this is always one
    }
    const std::vector<Nats> nats = model.nats_of(ids, totals.lines == 0);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const std::string id = fmt::format("{}{}", begin, totals.lines + 1);
      if (options.words) add_words(words, vocabulary, cells[i], id, some[i].text, ids[i], nats[i]);
      totals.add(print_rows(options, vocabulary, id, ids[i], nats[i]));
    }
    flush_output();
  });
  return totals;
}

/// Prints of each further model how many bits per symbol it needs more than the run, the bounds of the 95 %
/// interval of a paired bootstrap over the lines, and the share of samples in which it needs fewer.
void print_comparison(const std::vector<std::string>& names, const std::vector<ScoredLine>& lines) {
  constexpr std::size_t samples = 2000, bound = samples / 40;
  check_input(lines.size() > 1, "--compare: samples of lines are drawn, and there are fewer than two");
  for (std::size_t model = 0; model < names.size(); ++model) {
    const auto difference = [&](const auto& line_at) {
      double bits = 0, symbols = 0;
      for (std::size_t i = 0; i < lines.size(); ++i) {
        const ScoredLine& line = lines[line_at(i)];
        bits += line.bits[model + 1] - line.bits[0];
        symbols += static_cast<double>(line.symbols);
      }
      return bits / symbols;
    };
    std::mt19937_64 random(1);
    std::vector<double> drawn(samples);
    for (double& it : drawn) it = difference([&](std::size_t) { return random() % lines.size(); });
    std::sort(drawn.begin(), drawn.end());
    const auto fewer = std::count_if(drawn.begin(), drawn.end(), [](double it) { return it < 0; });
    fmt::print("{}\t{:.5f}\t{:.5f}\t{:.5f}\t{:.4f}\n", names[model],
               difference([](std::size_t i) { return i; }), drawn[bound], drawn[samples - 1 - bound],
               static_cast<double>(fewer) / static_cast<double>(samples));
  }
}

/// Answers requests until there are no more, each from the initial state.
int score_on_request(Interpolation& model) {
  const Vocabulary& vocabulary = model.vocabulary();
  return answer_requests([&](const std::string& line) {
    std::string text;
    read_request(line, {{"text", &text, any_text()}});
    Ids ids =
        encode_line(vocabulary, {normalised(text, "text", vocabulary.tokenization().unit).content, "text"});
    if (const auto context = vocabulary.line_end_id()) ids.insert(ids.begin(), *context);
    const Nats nats = model.nats_of({ids}, true).front();
    nlohmann::ordered_json symbols = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < nats.size(); ++i)
      symbols.push_back({{"symbol", vocabulary.symbol(ids[i + 1])},
                         {"unknown", ids[i + 1] == vocabulary.unknown_id()},
                         {"log_probability", -nats[i]}});
    return nlohmann::ordered_json{{"log_probability", 0 - std::accumulate(nats.begin(), nats.end(), 0.0)},
                                  {"symbols", symbols}};
  });
}

/// Prints tab-separated rows on stdout. Returns 0.
int score(const ScoreOptions& options) {
  const std::string standard_input = "-";
  Interpolation model(options, choose_device_for(options, options.run).device);
  if (options.json_lines) return score_on_request(model);
  const std::vector<std::string> files =
      options.files.empty() ? std::vector<std::string>{standard_input} : options.files;
  const bool one_by_one =
      options.stateful || std::find(files.begin(), files.end(), standard_input) != files.end();
  const std::int64_t batch = one_by_one ? 1 : 1024;  // rows of standard input come as soon as their lines
  Totals all;
  TextTable words = table_of_words();
  for (const std::string& file : files) {
    std::optional<InputLines> lines;
    if (file == standard_input)
      lines.emplace();
    else
      lines.emplace(std::filesystem::path(file));
    const std::string begin = files.size() > 1 ? printable(file) + ":" : "";
    const Totals totals = score_lines(options, model, *lines, batch, begin, words);
    all.add(totals);
    if (options.totals) totals.print(printable(file));
  }
  if (options.totals && files.size() > 1) all.print("total");
  if (options.compares) print_comparison(options.with, model.scored());
  if (options.words) fmt::print("{}", options.form(words));
  print_warning(warning_of_unknowns({"the input", all.unknowns, all.symbols}, model.unknown_is_trained()));
  return 0;
}

}  // namespace

Command add_score(CommandLine& line) {
  const auto options = std::make_shared<ScoreOptions>();
  CLI::App& app = add_command(
      line, "score", "print the probability of each line of files, or of standard input",
      "lm score runs/char-lstm-1 hypotheses.txt",
      "One row per line, separated by tabs: natural-log probability, symbols, how many of them are unknown. "
      "With --totals one row per file, and if there are several, one for all: name, log probability, "
      "symbols, unknown ones, lines, perplexity. A line starts from the initial state, after the end of a "
      "line: all its symbols are scored, its own end too.");
  add_run(app, "run", options->run, "the run folder");
  app.add_option("files", options->files, "text files; -: standard input (default: -)")->type_name("FILE");
  add_text(app, "--with", options->with, "RUN",
           "another run with the same vocabulary, or an ARPA file, can be repeated: linear interpolation")
      ->allow_extra_args(false);  // what follows is a file
  add_value(app, "--weights", options->weights, "W,...", not_negative(),
            "of the run and of each --with, divided by their sum (default: the same for all)")
      ->delimiter(',')
      ->allow_extra_args(false);  // what follows is a file
  CLI::Option* totals =
      app.add_flag("--totals", options->totals, "print sums over each file in place of its lines");
  app.add_flag("--stateful", options->stateful, "carry the state from line to line");
  app.add_flag("--per-symbol", options->per_symbol,
               "a row for each symbol: line, symbol as in vocab.txt, natural-log probability")
      ->excludes(totals);
  app.add_flag(
         "--compare", options->compares,
         "a row for each --with: bits per symbol more than RUN, bounds of the 95 % interval of a paired "
         "bootstrap over lines, share of the samples in which it needs fewer")
      ->needs("--with")
      ->excludes("--weights")
      ->excludes("--per-symbol")
      ->excludes(totals);
  CLI::Option* words =
      app.add_flag("--words", options->words,
                   "a row for each word that stands in the text, and for the line's end: line, index, word, "
                   "symbols, bits (the surprisal), whether one is unknown")
          ->excludes(totals)
          ->excludes("--per-symbol")
          ->excludes("--compare");
  add_text(app, "--column", options->column, "NAME",
           "with --words: the files are tables, separated by tabs, whose first row has names; this column "
           "has the lines, and the others are repeated in the rows")
      ->needs(words);
  for (CLI::Option* form : add_table_forms(app, options->form)) form->needs(words);
  add_json_lines(app, options->json_lines, R"({"text": "a line"})",
                 {"files", "--totals", "--stateful", "--per-symbol", "--words", "--compare"});
  add_device(app, *options);
  return {&app, [options] { return score(*options); }};
}

}  // namespace rondo

// `lm score`: the probability of each line of files or of standard input.
//
// A line is read as in training: its context is the end of a line, so that every symbol of the line is
// scored, including its own end. Only if the training text had no line end (one line), the first symbol is
// context and nothing ends the line. Lines are read side by side, and what they begin with in common is
// computed once; or one by one: then a row appears as soon as its line is read.
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
#include <numeric>
#include <optional>
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

/// A run and further models of its vocabulary. Their probabilities of each symbol are averaged by weights
/// (linear interpolation), so that those of all symbols sum to 1 again.
class Interpolation {
 public:
  /// InputErrors of open_run() and read_arpa(), and for another vocabulary, another number of weights, and
  /// weights that are all 0.
  Interpolation(const ScoreOptions& options, Device device)
      : run_(options.run), carries_state_(options.stateful), weights_(options.weights) {
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

  /// As a LineScorer.
  std::vector<Nats> nats_of(const std::vector<Ids>& lines, bool begins) {
    std::vector<std::vector<Nats>> of_each;
    for (const LineScorer& model : models_) of_each.push_back(model(lines, begins));
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
    const bool has_same_unit = of_first.unit == of_this.unit && of_first.strip_lines == of_this.strip_lines;
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
  bool carries_state_;
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

/// A line as ids. InputError naming the line if it is not text of the vocabulary's unit.
Ids encode_line(const Vocabulary& vocabulary, const InputLine& line) {
  const Unit unit = vocabulary.tokenization().unit;
  if (is_utf8(unit)) code_points(line.text, line.name);
  std::string text = text_of_line(line.text, unit);
  const bool has_end = vocabulary.line_end_id().has_value();
  if (!has_end) text.pop_back();
  return vocabulary.encode(text, line.name, has_end ? LastLine::ends : LastLine::goes_on).ids;
}

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
  } else if (!options.totals) {
    fmt::print("{:.6f}\t{}\t{}\n", it.log_probability, it.symbols, it.unknowns);
  }
  return it;
}

/// Prints the rows of a file's lines, or adds them up. `begin` begins the numbers of the lines.
Totals score_lines(const ScoreOptions& options, Interpolation& model, InputLines& lines, std::int64_t batch,
                   const std::string& begin) {
  const Vocabulary& vocabulary = model.vocabulary();
  std::optional<std::int32_t> context = vocabulary.line_end_id();
  Totals totals;
  answer_lines(lines, batch, [&](const std::vector<InputLine>& some) {
    std::vector<Ids> ids;
    for (const InputLine& line : some) ids.push_back(encode_line(vocabulary, line));
    for (Ids& it : ids) {
      if (context) it.insert(it.begin(), *context);
      if (options.stateful && !it.empty()) context = it.back();  // with line ends this is always one
    }
    const std::vector<Nats> nats = model.nats_of(ids, totals.lines == 0);
    for (std::size_t i = 0; i < ids.size(); ++i)
      totals.add(
          print_rows(options, vocabulary, fmt::format("{}{}", begin, totals.lines + 1), ids[i], nats[i]));
    flush_output();
  });
  return totals;
}

/// Answers requests until there are no more, each from the initial state.
int score_on_request(Interpolation& model) {
  const Vocabulary& vocabulary = model.vocabulary();
  return answer_requests([&](const std::string& line) {
    std::string text;
    read_request(line, {{"text", &text, any_text()}});
    Ids ids = encode_line(vocabulary, {text, "text"});
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
  for (const std::string& file : files) {
    std::optional<InputLines> lines;
    if (file == standard_input)
      lines.emplace();
    else
      lines.emplace(std::filesystem::path(file));
    const std::string begin = files.size() > 1 ? printable(file) + ":" : "";
    const Totals totals = score_lines(options, model, *lines, batch, begin);
    all.add(totals);
    if (options.totals) totals.print(printable(file));
  }
  if (options.totals && files.size() > 1) all.print("total");
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
  add_json_lines(app, options->json_lines, R"({"text": "a line"})",
                 {"files", "--totals", "--stateful", "--per-symbol"});
  add_device(app, *options);
  return {&app, [options] { return score(*options); }};
}

}  // namespace rondo

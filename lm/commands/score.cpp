// `lm score`: the probability of each line of files or of standard input.
//
// A line is read as in training: its context is the end of a line, so that every symbol of the line is
// scored, including its own end. Only if the training text had no line end (one line), the first symbol is
// context and nothing ends the line. Lines are read side by side, and what they begin with in common is
// computed once; or one by one: then a row appears as soon as its line is read.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/shared_prefixes.h"
#include "data/text.h"
#include "data/unicode.h"
#include "lm/commands/options.h"
#include "lm/evaluation/evaluation.h"
#include "lm/program/compute.h"
#include "lm/program/figure_warnings.h"
#include "lm/program/input_lines.h"
#include "lm/program/interpolation.h"
#include "lm/program/nbest.h"
#include "lm/program/output.h"
#include "lm/program/run_folder.h"

namespace rondo {
namespace {

struct ScoreOptions {
  std::string run;
  std::vector<std::string> with;      // further runs, whose probabilities are interpolated with the first's
  std::vector<double> weights;        // of all runs; empty: equal ones
  std::vector<std::string> files;     // empty: standard input
  bool stateful = false;              // the state is carried from line to line
  bool per_symbol = false;            // a row for each symbol
  bool ids = false;                   // the number of its line begins a row
  bool per_length = false;            // the log probability per symbol ends a row
  bool totals = false;                // a row for each file
  bool nbest = false;                 // the lines are those of an n-best list, which get a feature
  std::string feature = "rondo";      // its name
  std::optional<std::int64_t> batch;  // lines that are read side by side
  std::optional<int> threads;
  Device device = Device::cpu;
  std::optional<Precision> precision{};  // default: fp32
};

/// The default of ScoreOptions::batch: 1 if the state is carried on, and for standard input, where a row then
/// appears as soon as its line has been read.
constexpr std::int64_t default_score_batch = 1024;

/// A line as ids. InputError naming the line if it is not text of the vocabulary's unit.
Encoded encode_line(const Vocabulary& vocabulary, std::string line, const std::string& name) {
  const Unit unit = vocabulary.tokenization().unit;
  if (is_utf8(unit)) code_points(line, name);
  line = text_of_line(std::move(line), name, unit);
  const bool has_end = vocabulary.line_end_id().has_value();
  if (!has_end) line.pop_back();
  return vocabulary.encode(line, name, has_end ? LastLine::ends : LastLine::goes_on);
}

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
  double per_symbol() const { return symbols > 0 ? log_probability / static_cast<double>(symbols) : 0; }
  void print(const std::string& name) const {
    fmt::print("{}\t{:.6f}\t{}\t{}\t{}\t{}\n", name, log_probability, symbols, unknowns, lines,
               symbols > 0 ? fmt::format("{:.4f}", std::exp(-per_symbol())) : "-");
  }
};

/// A line that is to be scored.
struct Item {
  std::string id;                 // "3"
  std::vector<std::int32_t> ids;  // after their context
  std::optional<NbestLine> nbest;

  /// Of all ids but the first.
  std::span<const std::int32_t> targets() const { return std::span(ids).subspan(ids.empty() ? 0 : 1); }
};

class Scorer {
 public:
  Scorer(const ScoreOptions& options, Interpolation& mixture, std::int64_t batch)
      : options_(options),
        mixture_(mixture),
        batch_(static_cast<std::size_t>(batch)),
        written_(mixture.vocabulary().to_text()),
        symbols_(split_lines(written_)) {}

  /// Prints the rows of a file's lines, or adds them up. `file` begins the ids of its lines; empty: there is
  /// only one.
  Totals score(InputLines& lines, const std::string& file) {
    constexpr std::size_t symbols_at_once = 1 << 20;  // with few lines; bounds the memory
    Totals totals;
    context_ = mixture_.vocabulary().line_end_id();
    begins_ = true;
    std::size_t symbols = 0;
    answer_lines(
        lines,
        [&](const std::string& line, const std::string& name) {
          Item item = read(line, name, fmt::format("{}{}{}", file, file.empty() ? "" : ":", lines.number()));
          symbols += item.ids.size();
          return item;
        },
        [&](const std::vector<Item>& items) {
          const std::vector<std::vector<double>> nats = nats_of(items);
          for (std::size_t i = 0; i < items.size(); ++i) totals.add(print(items[i], nats[i]));
          flush_output();
          symbols = 0;
        },
        [&](const auto& items) { return items.size() == batch_ || symbols >= symbols_at_once; });
    return totals;
  }

 private:
  Item read(const std::string& line, const std::string& name, std::string id) {
    std::optional<NbestLine> nbest;
    if (options_.nbest) nbest.emplace(line, name, options_.feature);
    Encoded encoded = encode_line(mixture_.vocabulary(), nbest ? nbest->hypothesis() : line, name);
    std::vector<std::int32_t>& ids = encoded.ids;
    if (context_) ids.insert(ids.begin(), *context_);
    if (options_.stateful && !ids.empty()) context_ = ids.back();  // with line ends this is always one
    return {std::move(id), std::move(ids), std::move(nbest)};
  }

  /// -log p of the targets of each item.
  std::vector<std::vector<double>> nats_of(const std::vector<Item>& items) {
    std::vector<std::size_t> order(items.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return items[a].ids.size() > items[b].ids.size(); });
    std::vector<std::span<const std::int32_t>> lines;
    for (const std::size_t i : order) lines.emplace_back(items[i].ids);
    std::vector<std::vector<double>> nats(items.size());
    SharedPrefixes prefixes(lines, rows_at_once);
    for (SharedPrefixes::Piece piece; prefixes.next(piece);) {
      if (options_.stateful) piece.chunk.from_zero_state = std::exchange(begins_, false);
      const std::vector<double> of_piece = mixture_.read(piece.chunk, piece.continues);
      for (std::size_t i = 0; i < lines.size(); ++i)
        for (std::int64_t t = 0; t < prefixes.steps(i); ++t)
          nats[order[i]].push_back(
              of_piece[static_cast<std::size_t>(t * piece.chunk.streams + prefixes.stream(i))]);
    }
    return nats;
  }

  Totals print(const Item& item, const std::vector<double>& nats) {
    const auto targets = item.targets();
    const std::optional<std::int32_t> unknown = mixture_.vocabulary().unknown_id();
    const Totals it{0 - std::accumulate(nats.begin(), nats.end(), 0.0), std::ssize(targets),
                    unknown ? std::count(targets.begin(), targets.end(), *unknown) : 0, 1};
    if (item.nbest) {
      fmt::print("{}\n", item.nbest->with(options_.feature, it.log_probability));
    } else if (options_.per_symbol) {
      for (std::size_t i = 0; i < targets.size(); ++i)
        print_symbol(item.id, symbols_[static_cast<std::size_t>(targets[i])], nats[i]);
    } else if (!options_.totals) {
      if (options_.ids) fmt::print("{}\t", item.id);
      fmt::print("{:.6f}\t{}\t{}", it.log_probability, it.symbols, it.unknowns);
      if (options_.per_length) fmt::print("\t{:.6f}", it.per_symbol());
      fmt::print("\n");
    }
    return it;
  }

  const ScoreOptions& options_;
  Interpolation& mixture_;
  std::size_t batch_;
  std::string written_;
  std::vector<std::string_view> symbols_;  // by id, escaped
  std::optional<std::int32_t> context_;
  bool begins_ = true;  // no line of the file has been scored
};

const std::string standard_input = "-";

/// Lines that are read side by side.
std::int64_t batch_of(const ScoreOptions& options) {
  const std::vector<std::string>& files = options.files;
  const bool reads_standard_input =
      files.empty() || std::find(files.begin(), files.end(), standard_input) != files.end();
  const bool one_by_one = options.stateful || (reads_standard_input && !options.nbest);
  return options.batch.value_or(one_by_one ? 1 : default_score_batch);
}

/// Prints tab-separated rows on stdout. Returns 0.
int score(const ScoreOptions& options) {
  const Device device = choose_device(options.device, options.precision, options.threads).device;
  Interpolation mixture(options.run, options.with, options.weights, device);
  Scorer scorer(options, mixture, batch_of(options));
  const std::string advice = "split it, and give --stateful to read its parts as one";
  Totals all;
  const std::vector<std::string> files =
      options.files.empty() ? std::vector<std::string>{standard_input} : options.files;
  const auto take = [&](InputLines& lines, const std::string& file) {
    const Totals totals = scorer.score(lines, files.size() > 1 ? printable(file) : "");
    all.add(totals);
    if (options.totals) totals.print(printable(file));
  };
  for (const std::string& file : files) {
    if (file == standard_input) {
      InputLines lines(std::function<void()>(), advice);
      take(lines, file);
    } else {
      InputLines lines(std::filesystem::path(file), advice);
      take(lines, file);
    }
  }
  if (options.totals && files.size() > 1) all.print("total");
  const UnknownShare unknown{"the input", all.unknowns, all.symbols};
  const std::string warning = warning_of_unknowns(unknown, mixture.unknown_is_trained());
  if (options.nbest && all.unknowns > 0 && warning.empty())
    fmt::print(stderr,
               "lm: {}: each costs only as much as {}, so that a hypothesis with a rare or misspelt word may "
               "come first\n",
               share_text(unknown), unknown_symbol);
  print_warning(warning);
  return 0;
}

}  // namespace

Command add_score(CommandLine& line) {
  const auto options = std::make_shared<ScoreOptions>();
  CLI::App& app = add_command(
      line, "score", "print the probability of each line of files, or of standard input",
      "lm score runs/char-lstm-1 hypotheses.txt --ids --per-length",
      "One row per line, separated by tabs: natural-log probability, symbols, how many of them are unknown; "
      "with --ids first the number of the line, of several files FILE:NUMBER; with --per-length at the end "
      "the log probability divided by the symbols. With --totals one row per file, and if there are several, "
      "one for all: name, log probability, symbols, unknown ones, lines, perplexity.\n\n"
      "--nbest reads lines `id ||| hypothesis ||| scores`, of the format of Moses, which tools for rescoring "
      "read, and prints them in their order with one more feature in the third field: the hypothesis's "
      "natural-log probability.\n\n"
      "A line starts from the initial state, after the end of a line: all its symbols are scored, its own "
      "end too. " +
          fmt::format("A line has at most {} bytes.", longest_input_line));
  app.add_option("run", options->run, "the run folder")->type_name("RUN");
  app.add_option("files", options->files, "text files; -: standard input (default: -)")->type_name("FILE");
  add_text(
      app, "--with", options->with, "RUN",
      "another run with the same vocabulary, or an n-gram model in an ARPA file; can be repeated: --with "
      "B --with C. The models' probabilities of each symbol are averaged (linear interpolation)")
      ->allow_extra_args(false);  // what follows is a file
  add_value(app, "--weights", options->weights, "W,...", not_negative(),
            "of the run and of each --with, divided by their sum (default: the same for all)")
      ->delimiter(',')
      ->allow_extra_args(false);  // what follows is a file
  CLI::Option* ids = app.add_flag("--ids", options->ids, "begin each row with the line's number");
  CLI::Option* per_length = app.add_flag("--per-length", options->per_length,
                                         "end each row with the log probability per symbol of the line");
  CLI::Option* totals =
      app.add_flag("--totals", options->totals, "print sums over each file in place of its lines")
          ->excludes(ids)
          ->excludes(per_length);
  CLI::Option* stateful = app.add_flag("--stateful", options->stateful, "carry the state from line to line");
  CLI::Option* per_symbol =
      app.add_flag("--per-symbol", options->per_symbol,
                   "a row for each symbol: line, symbol as in vocab.txt, natural-log probability")
          ->excludes(ids)
          ->excludes(per_length)
          ->excludes(totals);
  CLI::Option* nbest = app.add_flag("--nbest", options->nbest,
                                    "the lines are those of an n-best list, and get a feature: see below")
                           ->excludes(ids)
                           ->excludes(per_length)
                           ->excludes(totals)
                           ->excludes(per_symbol)
                           ->excludes(stateful);
  const CLI::Validator name_of_feature(
      [](std::string& name) -> std::string {
        const bool good = !name.empty() && std::none_of(name.begin(), name.end(), [](char c) {
          return is_space(c) || c == '=' || c == '|';
        });
        return good ? "" : fmt::format("'{}': expected a name without spaces, = and |", name);
      },
      "");
  add_value(app, "--feature", options->feature, "NAME", name_of_feature,
            "with --nbest: the name of the feature")
      ->capture_default_str()
      ->needs(nbest);
  add_value(app, "--batch", options->batch, "N", integer(1, 4096),
            fmt::format("lines that are read side by side; shared prefixes are computed once (default: {} of "
                        "files and n-best lists, 1 of standard input: a row appears as soon as its line is "
                        "read; --stateful always reads one by one)",
                        default_score_batch))
      ->excludes(stateful);
  add_device(app, *options);
  return {&app, [options, &app] {
            check_run_given(app, options->run);
            check_run_comes_first(app, options->run, options->files.empty() ? "" : options->files.front());
            for (const std::string& file : options->files)
              check_input(!file_is_there(RunFolder{file}.config()),
                          "score: {} is a run, and one comes first; to interpolate it with others, give each "
                          "a --with: --with {}",
                          file, file);
            return score(*options);
          }};
}

}  // namespace rondo

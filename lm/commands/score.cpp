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
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "autograd/sequence.h"
#include "data/files/input_file.h"
#include "data/ngram/arpa.h"
#include "data/text/streams.h"
#include "data/text/symbols.h"
#include "data/text/text.h"
#include "data/text/unicode.h"
#include "lm/commands/options.h"
#include "lm/evaluation/evaluation.h"
#include "lm/program/compute.h"
#include "lm/program/files.h"
#include "lm/program/run.h"
#include "lm/program/terminal.h"
#include "lm/report/evaluation_report.h"
#include "tensor/error.h"

namespace rondo {

// --- Interpolation ---

namespace {

/// Reads streams of symbols and says how probable they are.
class InterpolatedModel {
 public:
  virtual ~InterpolatedModel() = default;
  /// -log p in nats of each target of a chunk; of one that is not scored it means nothing. Each of its
  /// streams continues the stream `continues` of the last chunk, except where a chunk begins from the initial
  /// state.
  virtual std::vector<double> read(const Chunk& chunk, const std::vector<std::int32_t>& continues) = 0;
};

class ReadingRun : public InterpolatedModel {
 public:
  explicit ReadingRun(std::unique_ptr<LanguageModel> model) : model_(std::move(model)) {}

  std::vector<double> read(const Chunk& chunk, const std::vector<std::int32_t>& continues) override {
    const NoGradient guard;
    auto [output, after] =
        model_->forward({tokens(chunk.inputs), chunk.steps, chunk.streams}, states_before(chunk, continues));
    states_ = std::move(after);
    const std::vector<real> nats = model_->cross_entropy(output, tokens(chunk.targets)).each.to_vector();
    return {nats.begin(), nats.end()};
  }

 private:
  /// What each stream of a chunk begins with.
  std::vector<State> states_before(const Chunk& chunk, const std::vector<std::int32_t>& continues) const {
    if (chunk.from_zero_state) return model_->initial_states(chunk.streams);
    std::vector<std::int32_t> same(static_cast<std::size_t>(states_.front().h.shape()[0]));
    std::iota(same.begin(), same.end(), 0);
    if (continues == same) return states_;
    const Tokens rows = tokens(continues);
    std::vector<State> chosen;
    for (const State& state : states_)
      chosen.push_back(state.map([&](const Variable& x) { return gather_rows(x, rows); }));
    return chosen;
  }

  std::unique_ptr<LanguageModel> model_;
  std::vector<State> states_;  // at the end of the last chunk
};

/// Streams are lines, one after another: each begins with `<s>`, as in log_probabilities() of
/// data/ngram/ngram_model.h.
class ReadingNgrams : public InterpolatedModel {
 public:
  /// `ids` are those of the model for the run's symbols.
  ReadingNgrams(NgramModel model, std::vector<std::int32_t> ids, std::optional<std::int32_t> line_end)
      : model_(std::move(model)), ids_(std::move(ids)), line_end_(line_end) {}

  std::vector<double> read(const Chunk& chunk, const std::vector<std::int32_t>& continues) override {
    const auto B = static_cast<std::size_t>(chunk.streams);
    std::vector<NgramModel::State> contexts(B, model_.line_start());
    if (!chunk.from_zero_state)
      for (std::size_t b = 0; b < B; ++b) contexts[b] = contexts_.at(static_cast<std::size_t>(continues[b]));
    contexts_ = std::move(contexts);
    std::vector<double> nats(chunk.targets.size());
    for (std::size_t i = 0; i < nats.size(); ++i) {
      NgramModel::State& context = contexts_[i % B];
      const std::int32_t input = chunk.inputs[i], target = chunk.targets[i];
      context = input == line_end_ ? model_.line_start() : model_.step(context, id(input)).next;
      if (target >= 0) nats[i] = -model_.step(context, id(target)).log_probability;
    }
    return nats;
  }

 private:
  std::int32_t id(std::int32_t of_run) const { return ids_.at(static_cast<std::size_t>(of_run)); }

  NgramModel model_;
  std::vector<std::int32_t> ids_;
  std::optional<std::int32_t> line_end_;     // of the run
  std::vector<NgramModel::State> contexts_;  // of each stream, at the end of the last chunk
};

/// A run and further models of its vocabulary. Their probabilities of each symbol are averaged by weights
/// (linear interpolation), so that those of all symbols sum to 1 again.
class Interpolation {
 public:
  /// `others` are folders of runs or ARPA files. `weights` are divided by their sum; none: equal ones.
  /// InputErrors of open_run() and read_arpa(), and for another vocabulary, another number of weights, and
  /// weights that are all 0.
  Interpolation(OpenRun first, const std::vector<std::string>& others, std::vector<double> weights,
                Device device)
      : first_(first.folder.path.string()), vocabulary_(first.vocabulary), weights_(std::move(weights)) {
    add_run(std::move(first));
    for (const std::string& path : others) {
      if (file_is_there(path) && !std::filesystem::is_directory(path)) {
        add_ngrams(path);
        continue;
      }
      OpenRun other = open_run(path, device);
      const Tokenization &of_first = vocabulary_.tokenization(), &of_other = other.vocabulary.tokenization();
      const bool has_same_unit =
          of_first.unit == of_other.unit && of_first.strip_lines == of_other.strip_lines;
      check_input(
          has_same_unit && vocabulary_.to_text() == other.vocabulary.to_text(),
          "--with {}: its vocabulary is not that of {}: only probabilities of the same symbols can be "
          "averaged{}",
          path, first_, has_same_unit ? "; data.vocabulary_file trains a run with another's" : "");
      add_run(std::move(other));
    }
    check_input(weights_.empty() || weights_.size() == models_.size(),
                "--weights: give one for RUN and one for each --with, here {}, not {}", models_.size(),
                weights_.size());
    if (weights_.empty()) weights_.assign(models_.size(), 1);
    const double sum = std::accumulate(weights_.begin(), weights_.end(), 0.0);
    check_input(sum > 0 && std::isfinite(sum), "--weights: at least one must be above 0");
    for (double& weight : weights_) weight /= sum;
  }

  const Vocabulary& vocabulary() const { return vocabulary_; }
  /// Whether it is in all runs.
  bool unknown_is_trained() const { return unknown_is_trained_; }

  /// As InterpolatedModel::read().
  std::vector<double> read(const Chunk& chunk, const std::vector<std::int32_t>& continues) {
    std::vector<std::vector<double>> of_each;
    for (const auto& model : models_) of_each.push_back(model->read(chunk, continues));
    if (models_.size() == 1) return of_each.front();
    std::vector<double> mixed(of_each.front().size());
    for (std::size_t i = 0; i < mixed.size(); ++i) {
      double least = std::numeric_limits<double>::infinity(), sum = 0;
      for (std::size_t m = 0; m < models_.size(); ++m)
        if (weights_[m] > 0) least = std::min(least, of_each[m][i]);
      for (std::size_t m = 0; m < models_.size(); ++m)
        if (weights_[m] > 0 && std::isfinite(least)) sum += weights_[m] * std::exp(least - of_each[m][i]);
      mixed[i] = std::isfinite(least) ? least - std::log(sum) : least;
    }
    return mixed;
  }

 private:
  void add_run(OpenRun run) {
    unknown_is_trained_ &= rondo::unknown_is_trained(run.config, run.vocabulary);
    models_.push_back(std::make_unique<ReadingRun>(std::move(run.model)));
  }

  void add_ngrams(const std::string& arpa) {
    Arpa it = read_arpa(arpa, vocabulary_.tokenization());
    const auto check_same_symbols = [&](bool ok, const std::string& symbol) {
      check_input(ok, "--with {}: only one of it and {} has '{}', and both must have the same symbols", arpa,
                  first_, escape_symbol(symbol));
    };
    std::vector<std::int32_t> ids;
    for (std::int32_t symbol = 0; symbol < vocabulary_.size(); ++symbol) {
      const auto id = it.vocabulary.id(vocabulary_.symbol(symbol));
      check_same_symbols(id.has_value(), vocabulary_.symbol(symbol));
      ids.push_back(*id);
    }
    for (std::int32_t id = 0; id < it.vocabulary.size(); ++id) {
      const std::string& symbol = it.vocabulary.symbol(id);
      check_same_symbols(symbol == unknown_symbol || vocabulary_.id(symbol), symbol);
    }
    models_.push_back(
        std::make_unique<ReadingNgrams>(std::move(it.model), std::move(ids), vocabulary_.line_end_id()));
  }

  std::string first_;  // the folder of the run
  Vocabulary vocabulary_;
  std::vector<std::unique_ptr<InterpolatedModel>> models_;
  std::vector<double> weights_;  // their sum is 1
  bool unknown_is_trained_ = true;
};

// --- Lists of n best translations ---

/// A line of a list of n best translations: "id ||| hypothesis ||| scores", as Moses writes it.
class NbestLine {
 public:
  /// InputError, beginning with `name`, for a line without these fields.
  NbestLine(std::string line, const std::string& name) : line_(std::move(line)) {
    constexpr std::string_view separator = " |||";  // "a|||b" is a word
    const std::size_t first = line_.find(separator), begin = first + separator.size(),
                      second = first == std::string::npos ? first : line_.find(separator, begin);
    check_input(second != std::string::npos,
                "{}: not a line of an n-best list, `id ||| hypothesis ||| scores`", name);
    hypothesis_ = stripped(std::string_view(line_).substr(begin, second - begin));
    const std::size_t third = line_.find(separator, second + separator.size());
    features_end_ = line_.find_last_not_of(' ', third == std::string::npos ? third : third - 1) + 1;
  }

  /// Without the spaces around it; perhaps empty.
  std::string hypothesis() const { return hypothesis_; }

  /// The line with one more feature at the end of the third field. Everything else stays as it was, also a
  /// sum of the features in a fourth field, as their weights are not known here.
  std::string with(std::string_view feature, double value) const {
    const std::string_view line = line_;
    return fmt::format("{} {}= {:.6f}{}", line.substr(0, features_end_), feature, value,
                       line.substr(features_end_));
  }

 private:
  std::string line_, hypothesis_;
  std::size_t features_end_;  // in the line
};

// --- Score ---

struct ScoreOptions : ComputeOptions {
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
    if (options_.nbest) nbest.emplace(line, name);
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
  const Device device = choose_device(options).device;
  Interpolation mixture(open_run(options.run, device), options.with, options.weights, device);
  Scorer scorer(options, mixture, batch_of(options));
  Totals all;
  const std::vector<std::string> files =
      options.files.empty() ? std::vector<std::string>{standard_input} : options.files;
  for (const std::string& file : files) {
    std::optional<InputLines> lines;
    if (file == standard_input)
      lines.emplace();
    else
      lines.emplace(std::filesystem::path(file));
    const Totals totals = scorer.score(*lines, files.size() > 1 ? printable(file) : "");
    all.add(totals);
    if (options.totals) totals.print(printable(file));
  }
  if (options.totals && files.size() > 1) all.print("total");
  print_warning(warning_of_unknowns({"the input", all.unknowns, all.symbols}, mixture.unknown_is_trained()));
  return 0;
}

}  // namespace

Command add_score(CommandLine& line) {
  const auto options = std::make_shared<ScoreOptions>();
  CLI::App& app = add_command(
      line, "score", "print the probability of each line of files, or of standard input",
      "lm score runs/char-lstm-1 hypotheses.txt --ids --per-length",
      "One row per line, separated by tabs: natural-log probability, symbols, how many of them are unknown. "
      "With --totals one row per file, and if there are several, one for all: name, log probability, "
      "symbols, unknown ones, lines, perplexity. --nbest reads lines `id ||| hypothesis ||| scores`, of the "
      "format of Moses, and prints them with one more feature in the third field.\n\n"
      "A line starts from the initial state, after the end of a line: all its symbols are scored, its own "
      "end too. " +
          fmt::format("A line has at most {} bytes.", longest_input_line));
  add_run(app, "run", options->run, "the run folder");
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
  add_text(app, "--feature", options->feature, "NAME", "with --nbest: the name of the feature")
      ->capture_default_str()
      ->needs(nbest);
  add_value(app, "--batch", options->batch, "N", integer(1, 4096),
            fmt::format("lines that are read side by side; shared prefixes are computed once (default: {} of "
                        "files and n-best lists, 1 of standard input: a row appears as soon as its line is "
                        "read; --stateful always reads one by one)",
                        default_score_batch))
      ->excludes(stateful);
  add_device(app, *options);
  return {&app, [options] { return score(*options); }};
}

}  // namespace rondo

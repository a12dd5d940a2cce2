// `lm score`. A line is read as in training: its context is the end of a line, so that every symbol of the
// line is scored, including its own end. Only if the training text had no line end (one line), the first
// symbol is context and nothing ends the line. Lines are deliberately read one by one, not in batches: a row
// appears as soon as its line is read.
#include "lm/program/score.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>

#include "data/text.h"
#include "data/unicode.h"
#include "lm/program/figure_warnings.h"
#include "lm/program/input_lines.h"
#include "lm/program/model.h"
#include "lm/program/output.h"
#include "lm/program/run.h"

namespace rondo {
namespace {

/// A line as ids. InputError naming the line if it is not text of the vocabulary's unit.
Encoded encode_line(const Vocabulary& vocabulary, std::string line, const std::string& name) {
  const Unit unit = vocabulary.tokenization().unit;
  if (is_utf8(unit)) code_points(line, name);
  line = text_of_line(std::move(line), name, unit);
  const bool has_end = vocabulary.line_end_id().has_value();
  if (!has_end) line.pop_back();
  return vocabulary.encode(line, name, has_end ? LastLine::ends : LastLine::goes_on);
}

/// Reads `inputs` from `states`, which are then the states at the end; returns the losses of `targets` in
/// nats.
std::vector<double> read_line(LanguageModel& model, std::vector<State>& states,
                              std::span<const std::int32_t> inputs, std::span<const std::int32_t> targets) {
  constexpr std::size_t steps_at_once = 512;  // bounds the memory of a long line
  const NoGradient guard;
  std::vector<double> losses;
  for (std::size_t begin = 0; begin < inputs.size(); begin += steps_at_once) {
    const auto part = [&](std::span<const std::int32_t> ids) {
      const auto some = ids.subspan(begin, std::min(steps_at_once, ids.size() - begin));
      return tokens({some.begin(), some.end()});
    };
    const Tokens read = part(inputs);
    auto [output, next] = model.forward({read, static_cast<std::int64_t>(read->size()), 1}, states);
    states = std::move(next);
    for (const real nats : model.cross_entropy(output, part(targets)).each.to_vector())
      losses.push_back(nats);
  }
  return losses;
}

/// The runs that score, of one vocabulary. Their probabilities of each symbol are averaged by weights
/// (linear interpolation), so that those of all symbols sum to 1 again.
class Interpolation {
 public:
  Interpolation(const ScoreOptions& options, Device device) {
    runs_.push_back(open_run(options.run, device));
    for (const std::string& path : options.with) {
      runs_.push_back(open_run(path, device));
      const Vocabulary &first = vocabulary(), &other = runs_.back().vocabulary;
      check_input(
          first.to_text() == other.to_text() && first.tokenization().unit == other.tokenization().unit &&
              first.tokenization().strip_lines == other.tokenization().strip_lines,
          "--with {}: its vocabulary is not that of {}: only probabilities of the same symbols can be "
          "averaged",
          path, options.run);
    }
    check_input(options.weights.empty() || options.weights.size() == runs_.size(),
                "--weights: {} for {} runs: give one for the run and one for each --with",
                options.weights.size(), runs_.size());
    weights_ = options.weights;
    if (weights_.empty()) weights_.assign(runs_.size(), 1);
    const double sum = std::accumulate(weights_.begin(), weights_.end(), 0.0);
    check_input(sum > 0 && std::isfinite(sum), "--weights: at least one must be above 0");
    for (double& weight : weights_) weight /= sum;
    begin_again();
  }

  const Vocabulary& vocabulary() const { return runs_.front().vocabulary; }
  bool unknown_is_trained() const {
    return std::all_of(runs_.begin(), runs_.end(), rondo::unknown_is_trained);
  }

  /// Goes to the initial states.
  void begin_again() {
    states_.clear();
    for (const OpenRun& run : runs_) states_.push_back(run.model->initial_states(1));
  }

  /// Reads `inputs`; the losses of `targets` in nats.
  std::vector<double> read(std::span<const std::int32_t> inputs, std::span<const std::int32_t> targets) {
    std::vector<double> mixed = read_line(*runs_[0].model, states_[0], inputs, targets);
    if (runs_.size() == 1) return mixed;
    std::vector<std::vector<double>> of_each{mixed};
    for (std::size_t m = 1; m < runs_.size(); ++m)
      of_each.push_back(read_line(*runs_[m].model, states_[m], inputs, targets));
    for (std::size_t i = 0; i < mixed.size(); ++i) {
      double least = std::numeric_limits<double>::infinity(), sum = 0;
      for (std::size_t m = 0; m < runs_.size(); ++m)
        if (weights_[m] > 0) least = std::min(least, of_each[m][i]);
      for (std::size_t m = 0; m < runs_.size(); ++m)
        if (weights_[m] > 0) sum += weights_[m] * std::exp(least - of_each[m][i]);
      mixed[i] = least - std::log(sum);
    }
    return mixed;
  }

 private:
  std::vector<OpenRun> runs_;
  std::vector<double> weights_;  // their sum is 1
  std::vector<std::vector<State>> states_;
};

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
    fmt::print("{}\t{:.6f}\t{}\t{}\t{}\t{:.4f}\n", name, log_probability, symbols, unknowns, lines,
               std::exp(-per_symbol()));
  }
};

class Scorer {
 public:
  Scorer(const ScoreOptions& options, Interpolation& mixture)
      : options_(options),
        mixture_(mixture),
        written_(mixture.vocabulary().to_text()),
        symbols_(split_lines(written_)),
        warned_(mixture.unknown_is_trained()) {}

  /// Prints the rows of a file's lines, or adds them up. `name` is that of the file, and `file` begins the
  /// ids of its lines; empty: there is only one.
  Totals score(InputLines& lines, const std::string& name, const std::string& file) {
    const Unit unit = mixture_.vocabulary().tokenization().unit;
    constexpr std::size_t longest_head = 1 << 16;
    std::string head;  // of the file
    Totals totals;
    context_ = mixture_.vocabulary().line_end_id();
    mixture_.begin_again();
    for (std::string line; lines.next(line);) {
      if (unit != Unit::bytes) lines.check_kind(line);
      if (head.size() < longest_head) head += line + '\n';
      totals.add(score_line(line, lines.name(),
                            fmt::format("{}{}{}", file, file.empty() ? "" : ":", lines.number())));
      flush_output();
    }
    if (const std::string warning = warning_of_content(head, name, unit); !warning.empty())
      fmt::print(stderr, "lm: warning: {}\n", warning);
    return totals;
  }

 private:
  Totals score_line(const std::string& line, const std::string& name, const std::string& id) {
    const Vocabulary& vocabulary = mixture_.vocabulary();
    const Encoded encoded = encode_line(vocabulary, line, name);
    std::vector<std::int32_t> ids = encoded.ids;
    if (context_) ids.insert(ids.begin(), *context_);
    const std::size_t count = ids.empty() ? 0 : ids.size() - 1;
    const auto targets = std::span(ids).last(count);
    const std::vector<double> nats = mixture_.read(std::span(ids).first(count), targets);
    if (encoded.unknowns > 0 && !std::exchange(warned_, true))
      fmt::print(stderr,
                 "lm: warning: {} has symbols that are unknown to this run, and its {} was never trained: "
                 "the figures are unreliable\n",
                 name, unknown_symbol);
    const std::optional<std::int32_t> unknown = vocabulary.unknown_id();
    const Totals it{0 - std::accumulate(nats.begin(), nats.end(), 0.0), static_cast<std::int64_t>(count),
                    unknown ? std::count(targets.begin(), targets.end(), *unknown) : 0, 1};
    if (options_.per_symbol) {
      for (std::size_t i = 0; i < count; ++i)
        fmt::print("{}\t{}\t{:.6f}\n", id, symbols_[static_cast<std::size_t>(targets[i])], 0 - nats[i]);
    } else if (!options_.totals) {
      if (options_.ids) fmt::print("{}\t", id);
      fmt::print("{:.6f}\t{}\t{}", it.log_probability, it.symbols, it.unknowns);
      if (options_.per_length) fmt::print("\t{:.6f}", it.per_symbol());
      fmt::print("\n");
    }
    if (!options_.stateful)
      mixture_.begin_again();
    else if (!ids.empty())
      context_ = ids.back();  // with line ends this is always one
    return it;
  }

  const ScoreOptions& options_;
  Interpolation& mixture_;
  std::string written_;
  std::vector<std::string_view> symbols_;  // by id, escaped
  bool warned_;
  std::optional<std::int32_t> context_;
};

}  // namespace

int score(const ScoreOptions& options) {
  const Device device = choose_device(options.device, options.precision, options.threads).device;
  Interpolation mixture(options, device);
  Scorer scorer(options, mixture);
  const std::string advice = "split it, and give --stateful to read its parts as one";
  Totals all;
  const std::string standard_input = "-";
  const std::vector<std::string> files =
      options.files.empty() ? std::vector<std::string>{standard_input} : options.files;
  const auto take = [&](InputLines& lines, const std::string& file) {
    const Totals totals = scorer.score(lines, file == standard_input ? "standard input" : printable(file),
                                       files.size() > 1 ? printable(file) : "");
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
  if (const std::string warning = warning_of_unknowns({"the input", all.unknowns, all.symbols});
      !warning.empty())
    fmt::print(stderr, "lm: warning: {}\n", warning);
  return 0;
}

}  // namespace rondo

// `lm score`. A line is read as in training: its context is the end of a line, so that every symbol of the
// line is scored, including its own end. Only if the training text had no line end (one line), the first
// symbol is context and nothing ends the line. Lines are deliberately read one by one, not in batches: a row
// appears as soon as its line is read.
#include "lm/program/score.h"

#include <cstdio>
#include <numeric>

#include "data/text.h"
#include "data/unicode.h"
#include "lm/program/input_lines.h"
#include "lm/program/model.h"
#include "lm/program/output.h"
#include "lm/program/run.h"

namespace rondo {
namespace {

/// A line of standard input as ids. InputError naming the line if it is not text of the vocabulary's unit.
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

}  // namespace

int score(const ScoreOptions& options) {
  const Device device = choose_device(options.device, options.precision, options.threads).device;
  OpenRun run = open_run(options.run, device);
  LanguageModel& model = *run.model;
  const Vocabulary& vocabulary = run.vocabulary;
  const std::string written = vocabulary.to_text();
  const std::vector<std::string_view> symbols = split_lines(written);  // by id, escaped

  std::vector<State> states = model.initial_states(1);
  std::optional<std::int32_t> context = vocabulary.line_end_id();
  bool warned = vocabulary.unknown_is_trained();
  InputLines lines({}, "split it, and give --stateful to read its parts as one");
  std::string line;
  for (std::int64_t number = 1; lines.next(line); ++number) {
    const Encoded encoded = encode_line(vocabulary, line, lines.name());
    std::vector<std::int32_t> ids = encoded.ids;
    if (context) ids.insert(ids.begin(), *context);
    const std::size_t count = ids.empty() ? 0 : ids.size() - 1;
    const auto targets = std::span(ids).last(count);
    const std::vector<double> nats = read_line(model, states, std::span(ids).first(count), targets);

    if (encoded.unknowns > 0 && !std::exchange(warned, true))
      fmt::print(
          stderr,
          "lm: warning: line {} has symbols that are unknown to this run, and its training text had no {}: "
          "what they cost is a guess of an untrained row\n",
          number, unknown_symbol);
    if (options.per_symbol) {
      for (std::size_t i = 0; i < count; ++i)
        fmt::print("{}\t{}\t{:.6f}\n", number, symbols[static_cast<std::size_t>(targets[i])], 0 - nats[i]);
    } else {
      const auto unknowns =
          vocabulary.unknown_id() ? std::count(targets.begin(), targets.end(), *vocabulary.unknown_id()) : 0;
      fmt::print("{:.6f}\t{}\t{}\n", 0 - std::accumulate(nats.begin(), nats.end(), 0.0), count, unknowns);
    }
    flush_output();

    if (!options.stateful)
      states = model.initial_states(1);
    else if (!ids.empty())
      context = ids.back();  // with line ends this is always one
  }
  return 0;
}

}  // namespace rondo

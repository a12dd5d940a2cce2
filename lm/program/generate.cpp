// `lm generate`: the prompt and the printing; the sampling is in lm/decoding/sampling.h. The prompt is
// printed first, as it was written, so that the output is a whole text.
#include "lm/program/generate.h"

#include <unistd.h>

#include <cstdio>
#include <random>

#include "data/file_kind.h"
#include "data/text.h"
#include "data/unpacked_file.h"
#include "lm/decoding/sampling.h"
#include "lm/decoding/stop_strings.h"
#include "lm/program/input_lines.h"
#include "lm/program/model.h"
#include "lm/program/output.h"
#include "lm/program/paths.h"
#include "lm/program/run.h"

namespace rondo {
namespace {

/// A prompt: its ids, and its symbols as they were written.
struct Prompt {
  std::vector<std::int32_t> ids;
  std::vector<std::string> written;
};

/// A text as a prompt, tokenised like the training text, but without an end. Reports unknown symbols on
/// stderr. `name` says where it comes from.
Prompt prompt_of(const OpenRun& run, std::string text, const std::string& name) {
  std::vector<std::string> ignored;
  const Vocabulary& vocabulary = run.vocabulary;
  const Tokenization& tokenization = vocabulary.tokenization();
  if (tokenization.unit != Unit::bytes) text = normalise_text(std::move(text), name, ignored);
  const std::string kind = tokenization.unit == Unit::bytes ? "" : kind_of_file(text);
  check_input(kind.empty(), "{}: looks like {}", name, kind);
  Encoded encoded = vocabulary.encode(text, name, LastLine::goes_on);
  if (!encoded.missing.empty())
    fmt::print(stderr, "lm: warning: read as {}{}: {}\n", unknown_symbol,
               unknown_is_trained(run) ? "" : ", which was never trained",
               excerpt(fmt::format("{}", fmt::join(encoded.missing, " "))));
  Prompt prompt{std::move(encoded.ids), {}};
  SymbolReader symbols(text, tokenization, name, LastLine::goes_on, vocabulary.pieces());
  while (const auto symbol = symbols.next()) prompt.written.emplace_back(*symbol);
  return prompt;
}

std::string text_of_prompt(const GenerateOptions& options) {
  if (options.prompt_file.empty()) return options.prompt;
  return read_file_unpacked(file_to_read(options.prompt_file));
}

/// What is printed, at once; it knows whether a line is open.
class Output {
 public:
  void print(const std::string& text) {
    if (text.empty()) return;
    fmt::print("{}", text);
    flush_output();
    line_is_open_ = text.back() != '\n';
  }
  void end_line() {
    if (line_is_open_) print("\n");
  }

 private:
  bool line_is_open_ = false;
};

/// As they occur in what is written: the end of a line may be given as vocab.txt writes it.
std::vector<std::string> stop_strings(std::vector<std::string> stops, Unit unit) {
  for (std::string& it : stops)
    if (it == line_end_symbol(unit) || it == escape_symbol("\n")) it = "\n";
  return stops;
}

/// Prints up to `symbols` symbols, or what precedes a stop string.
void continue_text(Sampler& sampler, std::int64_t symbols, const std::vector<std::string>& stops,
                   Output& output) {
  StopStrings until(stops);
  for (std::int64_t i = 0; i < symbols && !until.stopped(); ++i) output.print(until.take(sampler.next()));
  output.print(until.rest());
}

/// Continues each line of standard input.
void take_turns(Sampler& sampler, const OpenRun& run, const GenerateOptions& options,
                std::vector<std::string> stops, Output& output) {
  if (stops.empty()) stops.emplace_back("\n");
  const bool is_terminal = isatty(STDIN_FILENO) == 1;
  const auto ask = [&] {
    if (is_terminal) fmt::print(stderr, "> ");
  };
  InputLines lines;
  ask();
  for (std::string line; lines.next(line); ask()) {
    const Prompt prompt = prompt_of(run, line, lines.name());
    // A word is printed after a space unless it begins a line, and here it does.
    const std::string text = sampler.read(prompt.ids, prompt.written);
    output.print(text.starts_with(' ') && !line.starts_with(' ') ? text.substr(1) : text);
    continue_text(sampler, options.symbols, stops, output);
    output.end_line();
  }
  if (is_terminal) fmt::print(stderr, "\n");
}

}  // namespace

int generate(const GenerateOptions& options) {
  const Device device = choose_device(options.device, options.precision, options.threads).device;
  OpenRun run = open_run(options.run, device);
  check_input(!options.interactive || options.prompt_file != "-",
              "--prompt-file -: --interactive reads standard input; give a file");
  const std::string from = options.prompt_file.empty() ? "--prompt" : "--prompt-file " + options.prompt_file;
  const Prompt prompt = prompt_of(run, text_of_prompt(options), from);
  const std::uint64_t seed = options.seed ? *options.seed : std::random_device{}();
  if (!options.seed) fmt::print(stderr, "seed: {}\n", seed);

  const std::vector<std::string> stops = stop_strings(options.stops, run.vocabulary.tokenization().unit);
  Output output;
  for (std::int64_t sample = 0; sample < options.samples; ++sample) {
    Sampler sampler(*run.model, run.vocabulary,
                    {.temperature = options.temperature,
                     .top_k = options.top_k,
                     .top_p = options.top_p,
                     .min_p = options.min_p,
                     .repetition_penalty = options.repetition_penalty,
                     .seed = seed + static_cast<std::uint64_t>(sample),
                     .allow_unknown = options.allow_unknown});
    if (options.samples > 1) output.print(fmt::format("--- {}\n", sample + 1));
    output.print(sampler.read(prompt.ids, prompt.written));
    if (options.interactive)
      take_turns(sampler, run, options, stops, output);
    else
      continue_text(sampler, options.symbols, stops, output);
    output.end_line();
  }
  return 0;
}

}  // namespace rondo

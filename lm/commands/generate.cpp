// `lm generate`: text sampled from a run: the prompt and the printing; the sampling is in
// lm/decoding/sampling.h. The prompt is printed first, as it was written, so that the output is a whole text.
#include <cstdint>
#include <cstdio>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "data/files/input_file.h"
#include "data/files/lines.h"
#include "data/text/text.h"
#include "lm/commands/options.h"
#include "lm/decoding/sampling.h"
#include "lm/program/compute.h"
#include "lm/program/files.h"
#include "lm/program/run.h"
#include "lm/program/terminal.h"

namespace rondo {
namespace {

struct GenerateOptions : ComputeOptions {
  std::string run;
  std::string prompt;
  std::string prompt_file;  // in place of prompt; "-": standard input; empty: none
  std::int64_t samples = 1;
  std::vector<std::string> stops;  // strings that end a text
  std::int64_t symbols = 300;
  double temperature = 1;  // 0: always the most probable symbol
  std::int64_t top_k = 0;  // 0: all
  double top_p = 1, min_p = 0, repetition_penalty = 1;
  std::optional<std::uint64_t> seed;  // none: one is drawn and printed on stderr
  bool allow_unknown = false;
};

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
  if (tokenization.unit != Unit::bytes) check_kind(text, name);
  Encoded encoded = vocabulary.encode(text, name, LastLine::goes_on);
  if (!encoded.missing.empty())
    fmt::print(stderr, "lm: warning: read as {}{}: {}\n", unknown_symbol,
               unknown_is_trained(run.config, run.vocabulary) ? "" : ", which was never trained",
               excerpt(fmt::format("{}", fmt::join(encoded.missing, " "))));
  Prompt prompt{std::move(encoded.ids), {}};
  SymbolReader symbols(text, tokenization, name, LastLine::goes_on, vocabulary.pieces());
  while (const auto symbol = symbols.next()) prompt.written.emplace_back(*symbol);
  return prompt;
}

std::string text_of_prompt(const GenerateOptions& options) {
  if (options.prompt_file.empty()) return options.prompt;
  return read_file(file_to_read(options.prompt_file));
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

/// Writes the sampled text to stdout while it samples, and nothing else but a line "--- I" before each of
/// several samples. Returns 0.
int generate(const GenerateOptions& options) {
  const Device device = choose_device(options).device;
  OpenRun run = open_run(options.run, device);
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
    continue_text(sampler, options.symbols, stops, output);
    output.end_line();
  }
  return 0;
}

}  // namespace

Command add_generate(CommandLine& line) {
  const auto options = std::make_shared<GenerateOptions>();
  CLI::App& app = add_command(
      line, "generate", "sample text from a model",
      "lm generate runs/char-lstm-1 --prompt 'The ' -n 500 --temperature 0.8",
      "The seed of sample I of --samples is --seed + I - 1, and a line '--- I' precedes it. A "
      "repetition penalty divides the positive logits of symbols that were read or written before, and "
      "multiplies the negative ones (Keskar et al. 2019).");
  add_run(app, "run", options->run, "the run folder");
  CLI::Option* prompt =
      app.add_option("--prompt", options->prompt, "text to continue; it is printed first")->type_name("TEXT");
  add_text(app, "--prompt-file", options->prompt_file, "FILE",
           "a file with the text to continue; a newline at its end counts; -: standard input")
      ->excludes(prompt);
  add_value(app, "--samples", options->samples, "N", integer(1, 1000000),
            "number of texts, each continuing the prompt")
      ->capture_default_str();
  add_list(app, "--stop", options->stops, "STRING",
           "end a text before this string would be written; \\n is the end of a line; can be repeated")
      ->check(not_empty());
  add_value(app, "-n", options->symbols, "N", integer(0),
            "symbols to sample (words, characters, bytes or pieces)")
      ->capture_default_str();
  add_value(app, "--temperature", options->temperature, "T", not_negative(),
            "below 1 safer, above 1 bolder; 0: always the most probable")
      ->capture_default_str();
  add_value(app, "--top-k", options->top_k, "K", integer(0),
            "sample from the K most probable symbols only; 0: from all")
      ->capture_default_str();
  constexpr double above_0 = std::numeric_limits<double>::min();
  add_value(app, "--top-p", options->top_p, "P", in_range(above_0, 1.0, "a number above 0, up to 1"),
            "sample from the most probable symbols that make up this share, above 0 to 1")
      ->capture_default_str();
  add_value(app, "--min-p", options->min_p, "P", in_range(0.0, 1.0, "a number, 0 to 1"),
            "sample only from symbols with this share of the most probable one's probability, 0 to 1; 0: "
            "from all")
      ->capture_default_str();
  add_value(app, "--repetition-penalty", options->repetition_penalty, "X",
            in_range(above_0, 1e6, "a number above 0"),
            "above 1 makes symbols that were there before less probable; 1: none")
      ->capture_default_str();
  add_value(app, "--seed", options->seed, "N", integer(0),
            "of the sampling (default: drawn, and printed on stderr)");
  app.add_flag("--allow-unk", options->allow_unknown, "let <unk> be sampled");
  add_device(app, *options);
  return {&app, [options] { return generate(*options); }};
}

}  // namespace rondo

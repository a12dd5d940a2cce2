// `lm generate`: text sampled from a run: the prompt and the printing; the sampling is in
// lm/decoding/sampling.h. The prompt is printed first, as it was written, so that the output is a whole text.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "data/files/input_file.h"
#include "data/files/lines.h"
#include "data/text/text.h"
#include "lm/commands/options.h"
#include "lm/commands/requests.h"
#include "lm/decoding/sampling.h"
#include "lm/program/compute.h"
#include "lm/program/files.h"
#include "lm/program/run.h"
#include "lm/program/terminal.h"
#include "tensor/error.h"

namespace rondo {
namespace {

constexpr double above_0 = std::numeric_limits<double>::min();

struct GenerateOptions : ComputeOptions {
  std::string run;
  std::string prompt;
  std::string prompt_file;  // in place of prompt; "-": standard input; empty: none
  std::int64_t samples = 1;
  std::vector<std::string> stops;  // strings that end a text
  std::int64_t symbols = 300;
  SamplingOptions sampling;           // but for the seed
  std::optional<std::uint64_t> seed;  // none: one is drawn and printed on stderr
  bool json_lines = false;
};

/// A request of --json-lines. It has the values of the command's options where it does not say others.
struct GenerateRequest {
  std::string prompt;
  std::int64_t symbols = 0, candidates = 1, seed = 1;
  SamplingOptions sampling;
  std::vector<std::string> stops;
};
Keys keys_of(GenerateRequest& it) {
  return {{"prompt", &it.prompt, any_text()},
          {"n", &it.symbols, at_least(0)},
          {"candidates", &it.candidates, between(1, 1000)},
          {"temperature", &it.sampling.temperature, at_least(0)},
          {"top_k", &it.sampling.top_k, at_least(0)},
          {"top_p", &it.sampling.top_p, between(above_0, 1)},
          {"seed", &it.seed, at_least(0)},
          {"stop", &it.stops, any_text()},
          {"allow_unk", &it.sampling.allow_unknown}};
}

/// A prompt: its ids, its symbols as they were written, and those of them that are unknown.
struct Prompt {
  std::vector<std::int32_t> ids;
  std::vector<std::string> written, unknown;
};

/// A text as a prompt, tokenised like the training text, but without an end. `name` says where it comes from.
Prompt prompt_of(const Vocabulary& vocabulary, std::string text, const std::string& name) {
  text = normalised(std::move(text), name, vocabulary.tokenization().unit).content;
  Encoded encoded = vocabulary.encode(text, name, LastLine::goes_on);
  return {std::move(encoded.ids),
          symbols_written(vocabulary, text, name, LastLine::goes_on),
          {encoded.missing.begin(), encoded.missing.end()}};
}

/// Prints a text at once. Returns whether it ends within a line; an empty one changes nothing.
bool print_at_once(const std::string& text, bool line_is_open) {
  fmt::print("{}", text);
  flush_output();
  return text.empty() ? line_is_open : text.back() != '\n';
}

/// As they occur in what is written: the end of a line may be given as vocab.txt writes it.
std::vector<std::string> stop_strings(std::vector<std::string> stops, Unit unit) {
  for (std::string& it : stops) {
    check_input(!it.empty(), "an empty string ends no text");
    if (it == line_end_symbol(unit) || it == escape_symbol("\n")) it = "\n";
  }
  return stops;
}

/// Answers requests until there are no more. Candidate I has the seed `seed` + I or, with a temperature of 0,
/// begins with the I-th most probable symbol.
int generate_on_request(const GenerateOptions& options, const OpenRun& run, const Vocabulary& vocabulary) {
  const std::vector<std::string> stops = stop_strings(options.stops, vocabulary.tokenization().unit);
  StatesOfText known;
  return answer_requests([&](const std::string& line) {
    GenerateRequest asked;
    asked.symbols = options.symbols, asked.sampling = options.sampling, asked.stops = stops;
    if (options.seed) asked.seed = static_cast<std::int64_t>(*options.seed);
    read_request(line, keys_of(asked));
    const Prompt prompt = prompt_of(vocabulary, asked.prompt, "prompt");
    check_input(std::ranges::count(asked.stops, "") == 0, "an empty string ends no text");
    nlohmann::ordered_json candidates;
    const std::int64_t firsts =
        vocabulary.size() - (vocabulary.unknown_id() && !asked.sampling.allow_unknown);
    if (asked.sampling.temperature == 0) asked.candidates = std::min(asked.candidates, firsts);
    for (std::int64_t i = 0; i < asked.candidates; ++i) {
      asked.sampling.seed = static_cast<std::uint64_t>(asked.seed) + static_cast<std::uint64_t>(i);
      asked.sampling.rank = i;
      Sampler sampler(dynamic_cast<LanguageModel&>(*run.model), vocabulary, asked.sampling, &known);
      sampler.read(prompt.ids, prompt.written);
      StopStrings until(asked.stops);
      std::string text;
      std::int64_t symbols = 0;
      double log_probability = 0;
      for (; symbols < asked.symbols && !until.stopped(); ++symbols) {
        text += until.take(sampler.next());
        log_probability += sampler.log_probability();
      }
      candidates.push_back(
          {{"text", text + until.rest()}, {"symbols", symbols}, {"log_probability", log_probability}});
    }
    return nlohmann::ordered_json{{"candidates", candidates}, {"unknown", prompt.unknown}};
  });
}

/// Writes the sampled text to stdout while it samples, and nothing else but a line "--- I" before each of
/// several samples. Returns 0.
int generate(const GenerateOptions& options) {
  const Device device = choose_device_for(options, options.run).device;
  const OpenRun run = open_run(options.run, device);
  const Vocabulary& vocabulary = run.task_as<LanguageModellingTask>("language_modelling").vocabulary();
  if (options.json_lines) return generate_on_request(options, run, vocabulary);
  const std::string& file = options.prompt_file;
  const Prompt prompt =
      prompt_of(vocabulary, file.empty() ? options.prompt : read_file(file_to_read(file), Pipes::accepted),
                file.empty() ? "--prompt" : "--prompt-file " + file);
  if (!prompt.unknown.empty())
    print_warning(fmt::format("read as {}{}: {}", unknown_symbol,
                              unknown_is_trained(run.config, vocabulary) ? "" : ", which was never trained",
                              excerpt(fmt::format("{}", fmt::join(prompt.unknown, " ")))));
  const std::uint64_t seed = options.seed ? *options.seed : std::random_device{}();
  if (!options.seed) fmt::print(stderr, "seed: {}\n", seed);

  const std::vector<std::string> stops = stop_strings(options.stops, vocabulary.tokenization().unit);
  for (std::int64_t sample = 0; sample < options.samples; ++sample) {
    SamplingOptions sampling = options.sampling;
    sampling.seed = seed + static_cast<std::uint64_t>(sample);
    Sampler sampler(dynamic_cast<LanguageModel&>(*run.model), vocabulary, sampling);
    if (options.samples > 1) fmt::print("--- {}\n", sample + 1);
    bool line_is_open = print_at_once(sampler.read(prompt.ids, prompt.written), false);
    StopStrings until(stops);
    for (std::int64_t i = 0; i < options.symbols && !until.stopped(); ++i)
      line_is_open = print_at_once(until.take(sampler.next()), line_is_open);
    line_is_open = print_at_once(until.rest(), line_is_open);
    if (line_is_open) print_at_once("\n", true);
  }
  return 0;
}

}  // namespace

Command add_generate(CommandLine& line) {
  const auto options = std::make_shared<GenerateOptions>();
  CLI::App& app =
      add_command(line, "generate", "sample text from a model",
                  "lm generate runs/char-lstm-1 --prompt 'The ' -n 500 --temperature 0.8",
                  "The seed of sample I of --samples is --seed + I - 1, and a line '--- I' precedes it.");
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
           "end a text before this string would be written; \\n is the end of a line; can be repeated");
  add_value(app, "-n", options->symbols, "N", integer(0),
            "symbols to sample (words, characters, bytes or pieces)")
      ->capture_default_str();
  add_value(app, "--temperature", options->sampling.temperature, "T", not_negative(),
            "below 1 safer, above 1 bolder; 0: always the most probable")
      ->capture_default_str();
  add_value(app, "--top-k", options->sampling.top_k, "K", integer(0),
            "sample from the K most probable symbols only; 0: from all")
      ->capture_default_str();
  add_value(app, "--top-p", options->sampling.top_p, "P", in_range(above_0, 1.0, "a number above 0, up to 1"),
            "sample from the most probable symbols that make up this share")
      ->capture_default_str();
  add_value(app, "--seed", options->seed, "N", integer(0),
            "of the sampling (default: drawn, and printed on stderr)");
  app.add_flag("--allow-unk", options->sampling.allow_unknown, "let <unk> be sampled");
  add_json_lines(
      app, options->json_lines,
      R"({"prompt": "The ", "n": 20, "candidates": 3, "temperature": 0.8, "seed": 1, "stop": ["\n"]})",
      {"--prompt", "--prompt-file", "--samples"});
  add_device(app, *options);
  return {&app, [options] { return generate(*options); }};
}

}  // namespace rondo

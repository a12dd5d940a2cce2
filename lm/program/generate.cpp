// `lm generate`: the prompt and the printing; the sampling is in lm/decoding/sampling.h. The prompt is
// printed first, as the model read it, so that the output is a whole text.
#include "lm/program/generate.h"

#include <cstdio>
#include <random>

#include "data/text.h"
#include "lm/decoding/sampling.h"
#include "lm/program/model.h"
#include "lm/program/output.h"
#include "lm/program/run.h"

namespace rondo {
namespace {

/// The prompt's ids, tokenised like the training text, but without an end. Names unknown symbols on stderr.
std::vector<std::int32_t> read_prompt(const Vocabulary& vocabulary, std::string prompt) {
  std::vector<std::string> ignored;
  if (vocabulary.tokenization().unit != Unit::bytes)
    prompt = normalise_text(std::move(prompt), "--prompt", ignored);
  Encoded encoded = vocabulary.encode(prompt, "--prompt", LastLine::goes_on);
  if (!encoded.missing.empty())
    fmt::print(stderr, "lm: warning: read as {}{}: {}\n", unknown_symbol,
               vocabulary.unknown_is_trained() ? "" : ", which the training text did not have",
               fmt::join(encoded.missing, " "));
  return std::move(encoded.ids);
}

}  // namespace

int generate(const GenerateOptions& options) {
  const Device device = choose_device(options.device, options.precision, options.threads).device;
  OpenRun run = open_run(options.run, device);
  const std::vector<std::int32_t> prompt = read_prompt(run.vocabulary, options.prompt);
  const std::uint64_t seed = options.seed ? *options.seed : std::random_device{}();
  if (!options.seed) fmt::print(stderr, "lm: --seed {}\n", seed);

  Sampler sampler(*run.model, run.vocabulary,
                  {.temperature = options.temperature,
                   .top_k = options.top_k,
                   .top_p = options.top_p,
                   .seed = seed,
                   .allow_unknown = options.allow_unknown});
  bool line_is_open = false;
  const auto print = [&](const std::string& text) {
    fmt::print("{}", text);
    flush_output();
    if (!text.empty()) line_is_open = text.back() != '\n';
  };
  print(sampler.read(prompt));
  for (std::int64_t i = 0; i < options.symbols; ++i) print(sampler.next());
  if (line_is_open) print("\n");
  return 0;
}

}  // namespace rondo

// `lm eval`. The measuring is evaluate_ids() of lm/evaluation.h; here stand the choice of the text, the
// warnings and the printing. Results go to stdout, everything else to stderr.
#include "lm/evaluate.h"

#include <nlohmann/json.hpp>

#include "lm/evaluation.h"
#include "lm/model.h"
#include "lm/progress.h"
#include "lm/run.h"

namespace rondo {
namespace {

/// The text to measure: the file of --text, or the split of the run's data as it is now.
Text chosen_text(const EvaluateOptions& options, const OpenRun& run) {
  const Recipe& recipe = run.config.recipe;
  if (!options.text.empty()) return read_text(options.text, unit_from_string(recipe.data.unit));
  const CorpusText corpus = open_text(recipe, run.config.made_by.data);
  if (sha256_lines(corpus) != run.config.made_by.sha256)
    fmt::print(
        stderr,
        "lm: warning: {} has changed since this run was made; the figures are those of the text as it is "
        "now\n",
        run.config.made_by.data);
  return corpus.at(split_from_string(options.split));
}

Evaluation measure(OpenRun& run, const Encoded& encoded, const std::string& name, const Reading& reading) {
  Progress progress(stderr);
  return evaluate_ids(*run.model, encoded.ids, reading, run.vocabulary.unknown_id(), [&](std::int64_t done) {
    if (done + 1 < static_cast<std::int64_t>(encoded.ids.size()))
      progress.status(
          fmt::format("evaluating {}  {:.0f}%", name,
                      100.0 * static_cast<double>(done) / static_cast<double>(encoded.ids.size())));
    return true;
  });
}

void print_json(const EvaluateOptions& options, const std::string& name, const Reading& reading,
                const Evaluation& it) {
  nlohmann::ordered_json json{{"run", options.run}, {"text", name}};
  if (options.text.empty()) json["split"] = options.split;
  if (reading.line_end)
    json["by_lines"] = true;
  else
    json["streams"] = reading.streams;
  json["symbols"] = it.symbols;
  json["nats"] = it.nats();
  json["bits"] = it.bits();
  json["perplexity"] = it.perplexity();
  json["unknowns"] = it.unknowns;
  if (it.unknowns > 0 && it.unknowns < it.symbols)
    json["perplexity_without_unknowns"] = it.perplexity_without_unknowns();
  json["seconds"] = it.seconds;
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

void print_text(const std::string& name, const Reading& reading, const Evaluation& it) {
  if (reading.line_end) fmt::print("each line from a zero state, as this run was trained\n");
  fmt::print("{}: {} symbols scored, {} of them unknown ({:.2f}%)\n", name, it.symbols, it.unknowns,
             100.0 * static_cast<double>(it.unknowns) / static_cast<double>(it.symbols));
  fmt::print("nats        {:.4f}\nbits        {:.4f}\nperplexity  {:.2f}", it.nats(), it.bits(),
             it.perplexity());
  if (it.unknowns > 0 && it.unknowns < it.symbols)
    fmt::print(" with unknowns, {:.2f} without", it.perplexity_without_unknowns());
  fmt::print("\n");
}

}  // namespace

int evaluate(const EvaluateOptions& options) {
  choose_device(options.device, options.threads);
  OpenRun run = open_run(options.run);
  const Text text = chosen_text(options, run);
  for (const std::string& note : text.notes) fmt::print(stderr, "lm: {}\n", note);
  const Encoded encoded = run.vocabulary.encode(text);
  check_input(encoded.ids.size() >= 2, "{}: only {} symbols; 2 or more are needed, the first being context",
              text.name, encoded.ids.size());
  if (encoded.unknowns > 0 && !run.vocabulary.unknown_is_trained())
    fmt::print(
        stderr,
        "lm: warning: {} of the symbols of {} are unknown to this run, and its training text had no {}: "
        "what they cost is a guess of an untrained row\n",
        encoded.unknowns, text.name, unknown_symbol);
  Reading reading = reading_of(run.config.recipe, run.vocabulary);
  check_input(
      !options.streams || !reading.line_end,
      "--streams: this run reads each line from a zero state (data.batching = \"lines\"); leave it out");
  reading.streams = options.streams.value_or(reading.streams);
  const Evaluation result = measure(run, encoded, text.name, reading);
  if (options.json)
    print_json(options, text.name, reading, result);
  else
    print_text(text.name, reading, result);
  return 0;
}

}  // namespace rondo

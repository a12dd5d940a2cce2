// `lm embed`: sentences from standard input, their vectors to standard output or to a NumPy file, line by
// line.
#include <fmt/ranges.h>

#include <string>

#include "data/files/files.h"
#include "data/text/text.h"
#include "lm/commands/options.h"
#include "lm/program/compute.h"
#include "lm/program/files.h"
#include "lm/program/run.h"
#include "lm/program/terminal.h"
#include "lm/report/sentences.h"

namespace rondo {
namespace {

struct EmbedOptions : ComputeOptions {
  std::string run;
  std::string output;   // a .npy file; empty: standard output
  std::string vectors;  // word vectors for words that the run does not know; empty: these are <unk>
};

/// All lines at once: the file is written whole, and which words need vectors is known at the end only.
void embed_all(const EmbedOptions& options, const std::filesystem::path& output, SkipThought& model,
               SkipThoughtTask& task) {
  InputLines lines;
  std::vector<std::pair<std::string, std::string>> texts;  // each with its name
  for (std::string line; lines.next(line);) {
    lines.check_kind(line);
    texts.emplace_back(text_of_line(line, lines.name(), task.tokenization().unit), lines.name());
    task.sentence_ids(texts.back().first, texts.back().second);  // refuses what cannot be read
  }
  std::vector<Variable> tables;
  if (!options.vectors.empty()) tables = expand_vocabulary(model, task, options.vectors, texts);
  Sentences sentences;
  for (const auto& [text, name] : texts) sentences.add(task.sentence_ids(text, name));
  const Vectors vectors = sentence_vectors(model, sentences, tables);
  if (!output.empty()) return write_npy(output, vectors.numbers, vectors.width);
  for (std::int64_t i = 0; i < vectors.size(); ++i) fmt::print("{}\n", fmt::join(vectors[i], " "));
  flush_output();
}

/// One vector for each line of input, in its order: numbers separated by spaces, or a row of the file. An
/// empty line is an empty sentence, which has a vector, too. Returns 0. InputError for a line that cannot be
/// read; those before it are answered, except into a file.
int embed(const EmbedOptions& options) {
  const std::filesystem::path output =
      file_to_write("--output", options.output, Pipes::refused, {options.vectors});
  const Device device = choose_device(options).device;
  const OpenTask run = open_task(options.run, device);
  auto& task = run.task_as<SkipThoughtTask>("skip_thought");
  if (!output.empty() || !options.vectors.empty())
    embed_all(options, output, dynamic_cast<SkipThought&>(*run.model), task);
  else
    answer_lines(task, *run.model, [](const std::vector<LineAnswer>& answers) {
      for (const LineAnswer& it : answers) fmt::print("{}\n", it.text);
      flush_output();
    });
  return 0;
}

}  // namespace

Command add_embed(CommandLine& line) {
  const auto options = std::make_shared<EmbedOptions>();
  CLI::App& app = add_command(
      line, "embed", "print the vector of each sentence of standard input",
      "lm embed runs/skip-thought-1 --output sentences.npy < sentences.txt",
      "One line per sentence, in their order: the numbers of its vector, separated by spaces. Sentences are "
      "written as in the run's training text.");
  add_run(app, "run", options->run, "the run folder, of task skip_thought");
  add_text(app, "--output", options->output, "FILE.npy",
           "an array [sentences, numbers] for NumPy, not lines");
  add_text(app, "--vectors", options->vectors, "FILE",
           "word vectors in the text format of word2vec or GloVe: words that the run does not know get "
           "theirs, by a linear map from words that both know (default: they are <unk>)");
  add_device(app, *options);
  return {&app, [options] { return embed(*options); }};
}

}  // namespace rondo

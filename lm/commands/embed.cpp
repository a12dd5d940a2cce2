// `lm embed`: sentences from standard input, their vectors to standard output or to a NumPy file, line by
// line.
#include <fmt/ranges.h>

#include <optional>
#include <string>

#include "data/npy.h"
#include "data/text.h"
#include "lm/commands/options.h"
#include "lm/program/compute.h"
#include "lm/program/input_lines.h"
#include "lm/program/output.h"
#include "lm/program/output_file.h"
#include "lm/program/skip_thought_measurement.h"

namespace rondo {
namespace {

struct EmbedOptions {
  std::string run;
  std::string output;   // a .npy file; empty: standard output
  std::string vectors;  // word vectors for words that the run does not know; empty: these are <unk>
  std::optional<int> threads;
  Device device = Device::cpu;
  std::optional<Precision> precision{};
};

/// The ids of a line with its end symbol, which alone is an empty line.
std::vector<std::int32_t> ids_of(const Vocabulary& vocabulary, const std::string& text,
                                 const std::string& name) {
  std::vector<std::int32_t> ids = encoded_line(vocabulary, text, name);
  if (ids.empty()) ids.push_back(vocabulary.line_end_id().value());
  return ids;
}

void print(const Vectors& vectors) {
  for (std::int64_t i = 0; i < vectors.size(); ++i) fmt::print("{}\n", fmt::join(vectors[i], " "));
  flush_output();
}

/// All lines at once: the file is written whole, and which words need vectors is known at the end only.
void embed_all(const EmbedOptions& options, const std::filesystem::path& output, OpenSkipThought& run,
               InputLines& lines) {
  std::vector<std::pair<std::string, std::string>> texts;  // each with its name
  const Unit unit = run.vocabulary.tokenization().unit;
  for (std::string line; lines.next(line);) {
    lines.check_kind(line);
    texts.emplace_back(text_of_line(line, lines.name(), unit), lines.name());
    ids_of(run.vocabulary, texts.back().first, texts.back().second);  // refuses what cannot be read
  }
  std::vector<Variable> tables;
  if (!options.vectors.empty()) tables = expand_vocabulary(run, options.vectors, texts);
  Sentences sentences;
  for (const auto& [text, name] : texts) sentences.add(ids_of(run.vocabulary, text, name));
  const Vectors vectors = sentence_vectors(*run.model, sentences, tables);
  if (output.empty())
    print(vectors);
  else
    write_npy(output, vectors.numbers, vectors.width);
}

/// One vector for each line of input, in its order: numbers separated by spaces, or a row of the file. An
/// empty line is an empty sentence, which has a vector, too. Returns 0. InputError for a line that cannot be
/// read; those before it are answered, except into a file.
int embed(const EmbedOptions& options) {
  const std::filesystem::path output =
      file_to_write("--output", options.output, Pipes::refused, {options.vectors});
  const Device device = choose_device(options.device, options.precision, options.threads).device;
  OpenSkipThought run = open_skip_thought(options.run, device);
  InputLines lines;
  if (!output.empty() || !options.vectors.empty()) {
    embed_all(options, output, run, lines);
    return 0;
  }
  const auto read = [&](const std::string& line, const std::string& name) {
    return ids_of(run.vocabulary, text_of_line(line, name, run.vocabulary.tokenization().unit), name);
  };
  answer_lines(lines, read, [&](const auto& some) {
    Sentences sentences;
    for (const std::vector<std::int32_t>& ids : some) sentences.add(ids);
    print(sentence_vectors(*run.model, sentences));
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
      "written as in the run's training text: if its words are separated by spaces, so are these.");
  app.add_option("run", options->run, "the run folder, of task skip_thought")->type_name("RUN");
  add_text(app, "--output", options->output, "FILE.npy",
           "an array [sentences, numbers] for NumPy, not lines");
  add_text(app, "--vectors", options->vectors, "FILE",
           "word vectors in the text format of word2vec or GloVe: words that the run does not know get "
           "theirs, by a linear map from words that both know (default: they are <unk>)");
  add_device(app, *options);
  return {&app, [options, &app] {
            check_run_given(app, options->run, "runs/skip-thought-1 < sentences.txt");
            return embed(*options);
          }};
}

}  // namespace rondo

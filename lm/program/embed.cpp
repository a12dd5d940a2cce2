// `lm embed`.
#include "lm/program/embed.h"

#include <fmt/ranges.h>

#include "data/npy.h"
#include "data/text.h"
#include "lm/program/input_lines.h"
#include "lm/program/output.h"
#include "lm/program/output_file.h"
#include "lm/program/skip_thought_measurement.h"

namespace rondo {
namespace {

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

}  // namespace

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

}  // namespace rondo

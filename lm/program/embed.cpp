// `lm embed`.
#include "lm/program/embed.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_set>

#include "data/npy.h"
#include "data/text.h"
#include "lm/evaluation/vocabulary_expansion.h"
#include "lm/program/input_lines.h"
#include "lm/program/output.h"
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

/// The vocabulary of the run with the words of the lines that the file of vectors has.
VocabularyExpansion expanded(const OpenSkipThought& run, const std::string& file,
                             const std::vector<std::pair<std::string, std::string>>& lines) {
  std::vector<std::string> missing;
  std::unordered_set<std::string> seen;
  for (const auto& [text, name] : lines)
    for (const std::string& word : run.vocabulary.encode(text, name).missing)
      if (seen.insert(word).second) missing.push_back(word);
  VocabularyExpansion result = expand_vocabulary(*run.model, run.vocabulary, file, missing);
  fmt::print(stderr,
             "lm: {}: vectors for {} of {} words that the run does not know, by a map from {} words\n",
             printable(file), result.found, result.asked, result.shared);
  return result;
}

/// All lines at once: the file is written whole, and which words need vectors is known at the end only.
void embed_all(const EmbedOptions& options, OpenSkipThought& run, InputLines& lines) {
  std::vector<std::pair<std::string, std::string>> texts;  // each with its name
  const Unit unit = run.vocabulary.tokenization().unit;
  for (std::string line; lines.next(line);) {
    texts.emplace_back(text_of_line(line, lines.name(), unit), lines.name());
    ids_of(run.vocabulary, texts.back().first, texts.back().second);  // refuses what cannot be read
  }
  check_input(!texts.empty(), "standard input: no sentences: give one a line");
  std::vector<Variable> tables;
  if (!options.vectors.empty()) {
    VocabularyExpansion expansion = expanded(run, options.vectors, texts);
    run.vocabulary = std::move(expansion.vocabulary);
    tables = std::move(expansion.tables);
  }
  Sentences sentences;
  for (const auto& [text, name] : texts) sentences.add(ids_of(run.vocabulary, text, name));
  const Vectors vectors = sentence_vectors(*run.model, sentences, tables);
  if (options.output.empty())
    print(vectors);
  else
    write_npy(options.output, vectors.numbers, vectors.width);
}

}  // namespace

int embed(const EmbedOptions& options) {
  check_input(!is_file_of_run(options.output), "--output {}: is a file of a run; give another name",
              options.output);
  const Device device = choose_device(options.device, options.precision, options.threads).device;
  OpenSkipThought run = open_skip_thought(options.run, device);
  InputLines lines;
  if (!options.output.empty() || !options.vectors.empty()) {
    embed_all(options, run, lines);
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

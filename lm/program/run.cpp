// A run opened for use.
#include "lm/program/run.h"

#include <fmt/ranges.h>

#include "data/input_file.h"
#include "data/text.h"
#include "lm/program/model.h"
#include "lm/program/multi_task_text.h"
#include "lm/program/shell_command.h"
#include "lm/training/checkpoint.h"

namespace rondo {

void check_vocabularies(const RunFolder& folder, const Provenance& made_by,
                        const VocabularyFiles& vocabularies) {
  std::vector<std::string> files;
  for (const auto& [name, content] : vocabularies) files.push_back((folder.path / name).string());
  check_input(
      made_by.vocabulary.empty() || made_by.vocabulary == digest_of(vocabularies),
      "{}: not the vocabulary that this run was made with, whose SHA-256 is {}: the model's rows would "
      "stand for other symbols",
      fmt::join(files, " and "), made_by.vocabulary);
}

std::string read_vocabulary_file(const std::filesystem::path& file) {
  constexpr std::uint64_t largest = 256 << 20;  // of tens of millions of words
  return read_regular_file(file, largest);
}

std::vector<std::filesystem::path> vocabulary_paths(const RunFolder& folder, const Recipe& recipe) {
  std::vector<std::filesystem::path> paths;
  switch (recipe.kind) {
    case TaskKind::translation:
      return {folder.source_vocabulary(), folder.target_vocabulary()};
    case TaskKind::multi_task:
      for (const auto& [language, path] : vocabulary_paths(folder, recipe.tasks)) paths.push_back(path);
      return paths;
    case TaskKind::classification:
      return {folder.vocabulary(), folder.labels()};
    case TaskKind::speech:
      if (recipe.speech.data.frames.normalized_by == NormalizedBy::speaker) return {folder.vocabulary()};
      return {folder.vocabulary(), folder.frames()};
    default:
      return {folder.vocabulary()};
  }
}

namespace {

std::filesystem::path pieces_beside(std::filesystem::path file) { return file.replace_extension(".pieces"); }

}  // namespace

VocabularyFiles files_of(const Vocabulary& vocabulary, const std::filesystem::path& file) {
  VocabularyFiles files;
  if (vocabulary.pieces())
    files.emplace_back(pieces_beside(file).filename().string(), vocabulary.pieces()->bytes());
  files.emplace_back(file.filename().string(), vocabulary.to_text());
  return files;
}

Vocabulary read_vocabulary(const std::filesystem::path& file, const Tokenization& tokenization) {
  Vocabulary vocabulary = Vocabulary::from_text(read_vocabulary_file(file), file.string(), tokenization);
  const std::filesystem::path model = pieces_beside(file);
  if (tokenization.unit == Unit::pieces && has_sentencepiece())
    vocabulary.read_pieces(read_vocabulary_file(model), model.string());
  return vocabulary;
}

std::vector<Vocabulary> read_vocabularies(const RunFolder& folder, const RunConfig& config) {
  const Tokenization& tokenization = tokenization_of(config.recipe);
  std::vector<Vocabulary> vocabularies;
  VocabularyFiles files;
  std::vector<std::pair<std::string, std::string>> models;  // of pieces
  const auto read = [&](const std::filesystem::path& file) {
    return files.emplace_back(file.filename().string(), read_vocabulary_file(file)).second;
  };
  for (const std::filesystem::path& file : vocabulary_paths(folder, config.recipe)) {
    if (file == folder.labels() || file == folder.frames()) {
      read(file);
      continue;
    }
    if (tokenization.unit == Unit::pieces)
      models.emplace_back(pieces_beside(file).string(), read(pieces_beside(file)));
    vocabularies.push_back(Vocabulary::from_text(read(file), file.string(), tokenization));
  }
  check_vocabularies(folder, config.made_by, files);
  for (std::size_t i = 0; i < models.size() && has_sentencepiece(); ++i)
    vocabularies[i].read_pieces(models[i].second, models[i].first);
  return vocabularies;
}

Labels read_labels(const RunFolder& folder) {
  return Labels::from_text(read_vocabulary_file(folder.labels()), folder.labels().string());
}

std::vector<SymbolTable> symbol_tables(const RunFolder& folder, const RunConfig& config) {
  std::vector<SymbolTable> tables;
  for (const Vocabulary& it : read_vocabularies(folder, config)) tables.push_back({it.size(), it.types()});
  if (config.recipe.kind == TaskKind::classification) {
    const std::int64_t classes = read_labels(folder).size();
    tables.push_back({classes, classes});
  }
  if (config.recipe.kind == TaskKind::question_answering) {
    const std::int64_t entities = std::ssize(markers_of(read_vocabularies(folder, config).front()));
    tables.push_back({entities, entities});
  }
  return tables;
}

std::vector<std::int64_t> sizes_of(const std::vector<SymbolTable>& tables) {
  std::vector<std::int64_t> sizes;
  for (const SymbolTable& it : tables) sizes.push_back(it.size);
  return sizes;
}

std::string command_for(TaskKind kind) {
  switch (kind) {
    case TaskKind::language_modelling:
      return "generate";
    case TaskKind::translation:
    case TaskKind::multi_task:
      return "translate";
    case TaskKind::classification:
      return "classify";
    case TaskKind::question_answering:
      return "answer";
    case TaskKind::skip_thought:
      return "embed";
    case TaskKind::speech:
      return "transcribe";
  }
  return "";
}

void check_kind(const RunFolder& folder, const RunConfig& config, TaskKind kind) {
  if (config.recipe.kind == kind) return;
  const std::string command = command_for(config.recipe.kind);
  throw InputError(fmt::format("{}: a run of the task {}, and this command is for {}; use {}",
                               folder.path.string(), name_of(config.recipe.kind), name_of(kind),
                               command_with({command, folder.path.string()})));
}

void check_has_model(const RunFolder& folder, const Module& layout) {
  const std::string name = folder.model().filename().string();
  if (!file_is_there(folder.model()))
    throw InputError(fmt::format(
        "{} holds no model{}", folder.path.string(),
        file_is_there(folder.evaluations())
            ? fmt::format(", although one was measured: has its {} been moved?", name)
            : fmt::format(" yet; its {} is written by the first evaluation of its training", name)));
  check_model_layout(folder.model(), layout);
}

OpenRun open_run_without_weights(const std::string& path) {
  RunFolder folder = open_run_folder(path);
  RunConfig config = read_config(folder);
  check_kind(folder, config, TaskKind::language_modelling);
  Vocabulary vocabulary = std::move(read_vocabularies(folder, config).front());
  auto model =
      std::make_unique<LanguageModel>(model_options(config.recipe), vocabulary.size(), 1, Device::meta);
  check_has_model(folder, *model);
  return {std::move(folder), std::move(config), std::move(vocabulary), std::move(model)};
}

OpenRun open_run(const std::string& path, Device device) {
  OpenRun run = open_run_without_weights(path);
  run.model->allocate(device);
  load_model(run.folder.model(), *run.model);
  return run;
}

bool unknown_is_trained(const OpenRun& run) {
  const bool is_of_its_text = run.config.recipe.data.vocabulary_file.empty();  // whose place of <unk> tells
  return (is_of_its_text && run.vocabulary.unknown_is_trained()) || run.config.made_by.unknown_is_trained;
}

}  // namespace rondo

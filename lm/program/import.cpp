// `lm import`.
#include "lm/program/import.h"

#include <cstdio>
#include <filesystem>

#include "data/files.h"
#include "data/input_file.h"
#include "lm/program/compute.h"
#include "lm/program/export.h"
#include "lm/program/model.h"
#include "lm/program/paths.h"
#include "lm/program/recipes.h"
#include "lm/program/run.h"
#include "lm/program/shell_command.h"
#include "lm/program/version.h"
#include "lm/training/checkpoint.h"
#include "lm/training/foreign_weights.h"

namespace rondo {
namespace {

NameMap map_of(const std::string& file) {
  constexpr std::uint64_t largest = 1 << 20;
  return file.empty() ? NameMap() : NameMap::from_text(read_regular_file(file, largest), file);
}

/// InputError unless a row is a symbol.
void check_rows(const ForeignWeights& weights, const Vocabulary& vocabulary, const std::string& file) {
  for (const char* name : {"embedding.weight", "decoder.weight"})
    if (const auto shape = weights.shape_of(name); shape && !shape->empty())
      check_input(shape->front() == vocabulary.size(),
                  "{}: {} symbols, and {} has {} rows of {}: each row is a symbol", file, vocabulary.size(),
                  weights.name(), shape->front(), name);
}

/// Of a folder that `lm export` made: its files, where no others are given.
ImportOptions with_files_of_folder(ImportOptions options) {
  const ExportFolder files{options.weights};
  if (!std::filesystem::is_directory(files.path)) return options;
  check_input(std::filesystem::exists(files.model()),
              "{}: the folder has no {}; the folder of `{} export RUN --format pytorch` has one",
              options.weights, files.model().filename().string(), this_program());
  check_input(!file_is_there(RunFolder{files.path}.config()), "{}: it is a run already", options.weights);
  check_input(!options.recipe.empty() || std::filesystem::exists(files.recipe()),
              "{}: the folder has no {}; give the recipe, as in --recipe zaremba-small", options.weights,
              files.recipe().filename().string());
  options.weights = files.model().string();
  if (options.recipe.empty()) options.recipe = files.recipe().string();
  if (options.vocabulary.empty()) options.vocabulary = files.vocabulary().string();
  return options;
}

}  // namespace

int import_weights(const ImportOptions& given) {
  const ImportOptions options = with_files_of_folder(given);
  RunConfig config;
  auto& [recipe, made_by] = config;
  recipe = resolve_recipe(options.recipe, options.settings);
  check_input(recipe.kind == TaskKind::language_modelling,
              "{}: a recipe of the task {}, and only language models can be imported", options.recipe,
              name_of(recipe.kind));
  check_new_run_folder(options.out);
  const NameMap names = map_of(options.map);
  const Vocabulary vocabulary = read_vocabulary(options.vocabulary, recipe.data.tokenization);
  const ForeignWeights weights(options.weights, names);
  check_rows(weights, vocabulary, options.vocabulary);
  LanguageModel model(model_options(recipe), vocabulary.size(), std::nullopt);
  try {
    weights.check_layout(model);
  } catch (const NamesDiffer& error) {
    throw InputError(fmt::format("{}{}", error.what(), options.map.empty() ? "; --map FILE gives it" : ""));
  }
  if (!options.data.empty()) {
    made_by.data = absolute_path(options.data).string();
    made_by.sha256 = sha256_lines(open_text(recipe.data, made_by.data, Pipes::refused).files);
  }
  model.allocate(Device::cpu);
  weights.load(model);

  const VocabularyFiles files = files_of(vocabulary, RunFolder().vocabulary());
  made_by.version = version();
  made_by.command = options.command;
  made_by.threads = choose_device(Device::cpu, std::nullopt, std::nullopt).threads;
  made_by.vocabulary = digest_of(files);
  made_by.imported_from = absolute_path(options.weights).string();
  made_by.unknown_is_trained = true;  // by the other program, as far as is known
  const RunFolder run = make_run_folder(options.out, recipe.name);
  write_config(run, config);
  for (const auto& [name, content] : files) write_atomically(run.path / name, content);
  save_model(run.model(), model);

  if (recipe.model.cell == "gru")
    fmt::print(
        "the cell gru resets the state before the product; PyTorch's nn.GRU, whose weights have the same "
        "names, resets after it: for those --set model.cell=gru_reset_after\n");
  fmt::print("{}: {} parameters, {} symbols; the run is {}; to measure it: {} {}\n", recipe.name,
             model.parameter_count(), vocabulary.size(), run.path.string(),
             command_with({"eval", run.path.string()}),
             made_by.data.empty() ? "--text FILE" : "--split test");
  return 0;
}

}  // namespace rondo

// `lm import`: weights that another program has trained, as a run that every command can use. The file of
// weights: lm/training/foreign_weights.h. The other direction: lm/commands/export.cpp.
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "data/files.h"
#include "data/input_file.h"
#include "lm/commands/options.h"
#include "lm/program/compute.h"
#include "lm/program/export.h"
#include "lm/program/paths.h"
#include "lm/program/recipes.h"
#include "lm/program/run.h"
#include "lm/program/settings.h"
#include "lm/program/shell_command.h"
#include "lm/program/version.h"
#include "lm/training/checkpoint.h"
#include "lm/training/foreign_weights.h"

namespace rondo {
namespace {

struct ImportOptions {
  std::string weights;            // safetensors; or a folder of `lm export`, which has recipe and vocabulary
  std::string recipe;             // a name or a file
  std::vector<Setting> settings;  // of the recipe
  std::string vocabulary;         // as vocab.txt: a symbol a line, in the order of the rows
  std::string map;                // rules for names; empty: none
  std::string data;               // the text that the run records; empty: none
  std::string out;                // the run folder; empty: runs/RECIPE-N
  std::string command;            // what was typed, for config.toml
};

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

/// InputError unless the options say what to import.
void check_given(const ImportOptions& options) {
  check_input(!options.weights.empty(),
              "import: no weights given; as in: {} import model.safetensors --recipe zaremba-small --vocab "
              "vocab.txt",
              this_program());
  check_input(std::filesystem::exists(options.weights), "import: {}: no such file or folder",
              options.weights);
  const bool is_export = std::filesystem::is_directory(options.weights);
  check_input(is_export || !options.recipe.empty(),
              "import: no recipe given, which says what the weights are of; as in --recipe zaremba-small");
  check_input(is_export || !options.vocabulary.empty(),
              "import: no vocabulary given, which says what the rows are of; as in --vocab vocab.txt");
}

/// Makes a run of a language model, and prints what it has. Returns 0.
int import_weights(const ImportOptions& given) {
  const ImportOptions options = with_files_of_folder(given);
  RunConfig config;
  auto& [recipe, made_by] = config;
  recipe = resolve_recipe(options.recipe, options.settings);
  check_input(recipe.language_modelling(),
              "{}: a recipe of the task {}, and only language models can be imported", options.recipe,
              recipe.task_name);
  const LanguageModellingSettings& settings = recipe.language_model();
  check_new_run_folder(options.out);
  const NameMap names = map_of(options.map);
  const Vocabulary vocabulary = read_vocabulary(options.vocabulary, settings.data.tokenization);
  const ForeignWeights weights(options.weights, names);
  check_rows(weights, vocabulary, options.vocabulary);
  LanguageModel model(model_options(settings), vocabulary.size(), 1, Device::meta);
  try {
    weights.check_layout(model);
  } catch (const NamesDiffer& error) {
    throw InputError(fmt::format("{}{}", error.what(), options.map.empty() ? "; --map FILE gives it" : ""));
  }
  if (!options.data.empty()) {
    made_by.data = absolute_path(options.data).string();
    made_by.sha256 = sha256_lines(open_text(settings.data, made_by.data, Pipes::refused).files);
  }
  model.allocate(Device::cpu);
  weights.load(model);

  const VocabularyFiles files = files_of(vocabulary, "vocab.txt");
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

  if (settings.model.cell == "gru")
    fmt::print(
        "the cell gru resets the state before the product; PyTorch's nn.GRU, whose weights have the same "
        "names, resets after it: for those --set model.cell=gru_reset_after\n");
  fmt::print("{}: {} parameters, {} symbols; the run is {}; to measure it: {} {}\n", recipe.name,
             model.parameter_count(), vocabulary.size(), run.path.string(),
             command_with({"eval", run.path.string()}),
             made_by.data.empty() ? "--text FILE" : "--split test");
  return 0;
}

}  // namespace

Command add_import(CommandLine& line) {
  struct Words {
    ImportOptions options;
    std::vector<std::string> sets;
  };
  const auto words = std::make_shared<Words>();
  ImportOptions& options = words->options;
  CLI::App& app = add_command(
      line, "import", "make a run of weights that another program has trained",
      "lm import model.safetensors --recipe zaremba-small --vocab vocab.txt",
      "The recipe says what the model is, --set KEY=VALUE what differs from it. Names and shapes are those "
      "of "
      "PyTorch's modules: lm info --recipe lists them. For other names --map names a file of rules, one a "
      "line: OLD = NEW, OLD = NEW transposed; OLD = leaves a tensor out, = NEW makes one zero; * in OLD is "
      "any text, * in NEW the same text. Nothing is guessed: a missing or unexpected tensor is an error.");
  app.add_option("weights", options.weights,
                 "a file in the format safetensors, or a folder of lm export --format pytorch")
      ->type_name("WEIGHTS");
  add_text(app, "--recipe", options.recipe, "NAME|FILE",
           "a name from `lm recipes`, or a TOML file (default: the folder's)");
  add_text(
      app, "--vocab", options.vocabulary, "FILE",
      "the symbols in the order of the rows, one per line, as a run's vocab.txt (default: the folder's)");
  add_text(app, "--map", options.map, "FILE", "rules for names that are not those of the model");
  add_text(app, "--data", options.data, "DIR|FILE",
           "the text of the run, for lm eval --split and lm finetune (default: none)");
  add_text(app, "--out", options.out, "RUN", "the run folder to make (default: runs/RECIPE-N)");
  add_list(app, "--set", words->sets, "KEY=VALUE", "any setting of the recipe, can be repeated");
  return {&app, [words, &line] {
            ImportOptions& given = words->options;
            check_given(given);
            given.settings = parse_settings(words->sets);
            given.command = shell_command(line.words);
            return import_weights(given);
          }};
}

}  // namespace rondo

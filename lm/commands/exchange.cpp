// `lm export` writes a run for PyTorch or ONNX (lm/program/onnx_export.h); `lm import` makes a run, which
// every command can use, of weights that another program has trained. The file of weights:
// lm/training/foreign_weights.h.
#include <fmt/ranges.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "data/files/files.h"
#include "data/files/input_file.h"
#include "lm/commands/options.h"
#include "lm/program/cli.h"
#include "lm/program/compute.h"
#include "lm/program/files.h"
#include "lm/program/onnx_export.h"
#include "lm/program/recipe.h"
#include "lm/program/run.h"
#include "lm/program/terminal.h"
#include "lm/settings/settings.h"
#include "lm/tasks/translation.h"
#include "lm/training/checkpoint.h"
#include "lm/training/foreign_weights.h"

/// The programs of lm/program/exported, each ended by a zero (lm/program/embedded_files.cpp).
extern "C" const char rondo_exported_pytorch[], rondo_exported_cells[], rondo_exported_onnx[],
    rondo_exported_onnx_translator[], rondo_exported_text[], rondo_exported_use[], rondo_exported_translate[];

namespace rondo {

// --- Export ---

/// The files of an export that can be imported.
constexpr const char *weights_name = "model.safetensors", *vocabulary_name = "vocab.txt",
                     *recipe_name = "recipe.toml";

namespace {

/// PyTorch: the run's own file. ONNX: a graph of ONNX's operators.
enum class ExportFormat { pytorch, onnx };
std::vector<std::string> names_of(ExportFormat) { return {"pytorch", "onnx"}; }

struct ExportOptions {
  std::string run;
  ExportFormat format = ExportFormat::pytorch;
  std::string out;  // the folder to make
};

/// The keys of a language model or a translator and of its text that an export has, or on which a trained
/// model does not depend. Any other must have its default, so that a new one is never left out of an export
/// unseen.
const std::set<std::string> exportable_keys = {
    "data.unit", "data.pieces", "data.pieces_model", "data.strip_lines", "model.cell", "model.activation",
    "model.biases", "model.layers", "model.embedding", "model.hidden", "model.output_layers",
    "model.output_activation", "model.tied",
    // A translator has these as well.
    "model.encoder_layers", "model.decoder_layers", "model.bidirectional", "model.attention",
    "model.input_feeding", "model.bridge", "model.readout",
    // Which text the model has seen, and how.
    "data.vocabulary", "data.vocabulary_file", "data.min_count", "data.max_size", "data.unknown",
    "data.train_files", "data.files", "data.block_lines", "data.memory", "data.batching", "data.evaluated_as",
    "data.source_language", "data.target_language", "data.valid_files", "data.test_files",
    "data.generated_pairs", "data.shared_vocabulary", "data.max_length", "data.pairs_share",
    // Initial values.
    "model.embedding_file", "model.embedding_init", "model.embedding_range", "model.input_init",
    "model.input_range", "model.recurrent_init", "model.recurrent_range", "model.output_init",
    "model.output_range", "model.init_all", "model.forget_bias",
    // Dropout. Zoneout acts in evaluations, too.
    "model.dropout", "model.input_dropout", "model.hidden_dropout", "model.output_dropout",
    "model.variational", "model.embedding_dropout", "model.weight_drop", "model.recurrent_dropout"};

/// An export to PyTorch has these as well, and all settings of the cell.
const std::set<std::string> exportable_to_pytorch = {
    "model.trained_initial_states", "model.block", "model.expansion", "model.convolution", "model.gate",
    "model.feed_forward",
    // The output.
    "model.experts", "model.latent_dropout", "model.output", "model.cutoffs", "model.cluster_divisor"};

/// InputError, naming the setting, for what the format does not have.
void check_exportable(Recipe& recipe, ExportFormat format, const std::string& run) {
  const std::string& cell = recipe.task->cell();
  Keys of_cell;
  if (format == ExportFormat::onnx) {
    check_onnx_has(cell, run);
  } else {
    check_input(recipe.language_modelling(), "{}: translators are exported with --format onnx alone", run);
    const std::string entry = fmt::format("\"{}\": [", cell);
    check_input(std::string_view(rondo_exported_cells).find(entry) != std::string_view::npos,
                "{}: the cell {} cannot be exported to pytorch", run, cell);
    of_cell = section("model", keys_of(recipe.language_model().model.cell_settings, cell));
  }
  Recipe defaults;
  defaults.set_task(recipe.task_name);
  const Keys standard = keys_of(defaults);
  for (const Key& key : keys_of(recipe)) {
    const bool is_exportable =
        (!key.name.starts_with("model.") && !key.name.starts_with("data.")) ||
        exportable_keys.contains(key.name) || has_key(of_cell, key.name) ||
        (format == ExportFormat::pytorch && exportable_to_pytorch.contains(key.name)) ||
        value_text(key) == default_text(key, standard);
    check_input(is_exportable, "{}: {} = {} cannot be exported", run, key.name, value_text(key));
  }
}

/// Returns what model.py must know of a language model; it reads the rest off the weights.
nlohmann::ordered_json config_of(const LanguageModel& model) {
  LanguageModelOptions it = model.options();
  nlohmann::ordered_json settings = nlohmann::ordered_json::object();
  for (const Key& key : keys_of(it.cell_settings, it.cell))
    settings[key.name] = nlohmann::ordered_json::parse(value_text(key));
  std::vector<std::int64_t> units = it.hidden;
  for (std::int64_t& width : units) width = it.block.cell_units(width);
  const char* const activation = it.output_activation == OutputActivation::tanh ? "Tanh" : "Identity";
  return {{"vocabulary", model.vocabulary_size()},
          {"cell", it.cell},
          {"settings", std::move(settings)},
          {"units", units},
          {"output_activation", activation}};
}

void write_export(const std::filesystem::path& out, ExportFormat format, OpenRun& run) {
  const auto* const model = dynamic_cast<LanguageModel*>(run.model.get());
  const bool is_onnx = format == ExportFormat::onnx;
  const Tokenization& tokenization = run.task().tokenization();
  nlohmann::ordered_json config{{"unit", name_of(tokenization.unit)},
                                {"strip_lines", tokenization.strip_lines}};
  // The weights are first, because a file of the format may be too small for them.
  if (!model) {
    const auto& translator = dynamic_cast<EncoderDecoder&>(*run.model);
    const TranslationSettings& settings = dynamic_cast<TranslationTask&>(run.task()).settings;
    encoder_graph(translator).write(out / "encoder.onnx", "encoder", version());
    decoder_graph(translator).write(out / "decoder.onnx", "decoder", version());
    config["reverse_source"] = settings.train.batches.reverse_source;
    config["max_length"] = settings.decoding.max_length;
    config["allow_unknown"] = settings.decoding.allow_unknown;
  } else if (is_onnx) {
    graph_of(*model).write(out / "model.onnx", "language_model", version());
  } else {
    save_model(out / weights_name, *model);
    write_atomically(out / recipe_name, write_toml(keys_of(run.config.recipe)));
    write_atomically(out / "cells.py", rondo_exported_cells);
  }
  if (model) config["model"] = config_of(*model);
  for (const auto& [name, content] : run.task().vocabularies()) write_atomically(out / name, content);
  write_atomically(out / "config.json", config.dump(2) + "\n");
  write_atomically(out / "model.py", !model    ? rondo_exported_onnx_translator
                                     : is_onnx ? rondo_exported_onnx
                                               : rondo_exported_pytorch);
  write_atomically(out / "text.py", rondo_exported_text);
  write_atomically(out / "use.py", model ? rondo_exported_use : rondo_exported_translate);
}

/// Makes the folder. Returns 0. InputError for a model with parts that the format does not have.
int export_run(const ExportOptions& options) {
  OpenRun run = open_run(options.run);
  if (!run.config.recipe.language_modelling())
    run.task_as<TranslationTask>("language_modelling or translation");
  check_exportable(run.config.recipe, options.format, options.run);
  make_whole_folder(options.out, "",
                    [&](const RunFolder& made) { write_export(made.path, options.format, run); });
  print_line(fmt::format("{}: {} parameters, {} symbols; to use it: {}", options.out,
                         run.model->parameter_count(), fmt::join(run.task().sizes(), " and "),
                         shell_command({"python3", options.out + "/use.py"})));
  return 0;
}

}  // namespace

Command add_export(CommandLine& line) {
  const auto options = std::make_shared<ExportOptions>();
  CLI::App& app = add_command(
      line, "export", "write a language model for PyTorch or ONNX, or a translator for ONNX",
      "lm export runs/char-lstm-1 --format onnx --out exported",
      "The folder has the weights, the vocabulary, model.py, which loads the model, and use.py, which prints "
      "what lm score prints, and samples, or what lm translate --beam 1 prints. lm import FOLDER makes a run "
      "again of one that was exported for PyTorch.");
  add_run(app, "run", options->run, "the run folder");
  add_choice<ExportFormat>(app, "--format", options->format, "pytorch or onnx")
      ->default_str(name_of(options->format));
  add_text(app, "--out", options->out, "FOLDER", "the folder to make")->required();
  return {&app, [options] { return export_run(*options); }};
}

// --- Import ---

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

/// Throws InputError unless a row is a symbol.
void check_rows(const ForeignWeights& weights, const Vocabulary& vocabulary, const std::string& file) {
  for (const char* name : {"embedding.weight", "decoder.weight"})
    if (const auto shape = weights.shape_of(name); shape && !shape->empty())
      check_input(shape->front() == vocabulary.size(),
                  "{}: {} symbols, and {} has {} rows of {}: each row is a symbol", file, vocabulary.size(),
                  weights.name(), shape->front(), name);
}

/// Of a folder that `lm export` made: its files, where no others are given.
ImportOptions with_files_of_folder(ImportOptions options) {
  const std::filesystem::path folder = options.weights;
  if (!std::filesystem::is_directory(folder)) return options;
  check_input(!is_run(folder), "{}: it is a run already", options.weights);
  check_input(std::filesystem::exists(folder / weights_name),
              "{}: it has no {}, as a folder of lm export --format pytorch", options.weights, weights_name);
  options.weights = folder / weights_name;
  if (options.recipe.empty()) options.recipe = folder / recipe_name;
  if (options.vocabulary.empty()) options.vocabulary = folder / vocabulary_name;
  return options;
}

/// Makes a run of a language model, and prints what it has. Returns 0.
int import_weights(const ImportOptions& given) {
  check_input(std::filesystem::exists(given.weights), "import: {}: no such file or folder", given.weights);
  const ImportOptions options = with_files_of_folder(given);
  check_input(!options.recipe.empty() && !options.vocabulary.empty(),
              "import: --recipe says what the weights are of, and --vocab what the rows are of: give both");
  RunConfig config;
  auto& [recipe, made_by] = config;
  recipe = resolve_recipe(options.recipe, options.settings);
  check_input(recipe.language_modelling(),
              "{}: a recipe of the task {}, and only language models can be imported", options.recipe,
              recipe.task_name);
  check_input(recipe.fitted_parameters == 0, "import: the weights have a width: give it, as in {}=200",
              width_key);
  const LanguageModellingSettings& settings = recipe.language_model();
  check_new_run_folder(options.out, true);
  constexpr std::uint64_t largest_map = 1 << 20;
  const std::string& map = options.map;
  const NameMap names =
      map.empty() ? NameMap() : NameMap::from_text(read_text(map, Pipes::refused, largest_map).content, map);
  const Vocabulary vocabulary = read_vocabulary(options.vocabulary, settings.data.tokenization);
  const ForeignWeights weights(options.weights, names);
  check_rows(weights, vocabulary, options.vocabulary);
  LanguageModel model(model_options(settings), vocabulary.size(), 1, Device::meta);
  weights.check_layout(model);
  if (!options.data.empty()) {
    made_by.data = absolute_path(options.data).string();
    made_by.sha256 = sha256_lines(open_text(settings.data, made_by.data, Pipes::refused).files);
  }
  model.allocate(Device::cpu);
  weights.load(model);

  const VocabularyFiles files = files_of(vocabulary, "vocab.txt");
  made_by.version = version();
  made_by.command = options.command;
  made_by.threads = choose_device({}).threads;
  made_by.vocabulary = digest_of(files);
  made_by.imported_from = absolute_path(options.weights).string();
  made_by.unknown_is_trained = true;  // by the other program, as far as is known
  const RunFolder run = make_whole_folder(options.out, recipe.name, [&](const RunFolder& made) {
    for (const auto& [name, content] : files) write_atomically(made.path / name, content);
    save_model(made.model(), model);
    write_config(made, config);  // last: what has one is a run
  });

  if (settings.model.cell == "gru")
    print_line(
        "the cell gru resets the state before the product; PyTorch's nn.GRU, whose weights have the same "
        "names, resets after it: for those --set model.cell=gru_reset_after");
  if (settings.model.cell == "rnn" && !has_relu(settings.model))
    print_line(
        "model.activation = tanh, which weights do not say: if they are of an nn.RNN with relu, --set "
        "model.activation=relu");
  print_line(fmt::format("{}: {} parameters, {} symbols; the run is {}; to measure it: {} {}", recipe.name,
                         model.parameter_count(), vocabulary.size(), run.path.string(),
                         command_with({"eval", run.path.string()}),
                         made_by.data.empty() ? "--text FILE" : "--split test"));
  return 0;
}

}  // namespace

Command add_import(CommandLine& line) {
  const auto options = std::make_shared<ImportOptions>();
  CLI::App& app = add_command(
      line, "import", "make a run of weights that another program has trained",
      "lm import model.safetensors --recipe zaremba-small --vocab vocab.txt",
      "lm info --recipe lists the names and shapes. --map names a file of rules, one a line: OLD = NEW, OLD "
      "= NEW transposed; OLD = leaves a tensor out, = NEW makes one zero; * is any text, the same in both.");
  app.add_option("weights", options->weights,
                 "a file in the format safetensors, or a folder of lm export --format pytorch")
      ->type_name("WEIGHTS")
      ->required();
  add_text(app, "--recipe", options->recipe, "NAME|FILE",
           "a name from `lm recipes`, or a TOML file (default: the folder's)");
  add_text(app, "--vocab", options->vocabulary, "FILE",
           "the symbols in the order of the rows, as a run's vocab.txt (default: the folder's)");
  add_text(app, "--map", options->map, "FILE", "rules for names that are not those of the model");
  add_text(app, "--data", options->data, "DIR|FILE",
           "the text of the run, for lm eval --split and lm finetune (default: none)");
  add_text(app, "--out", options->out, "RUN", "the run folder to make (default: runs/RECIPE-N)");
  add_settings(app, options->settings, "any setting of the recipe, can be repeated");
  return {&app, [options, &line] {
            options->command = shell_command(line.words);
            return import_weights(*options);
          }};
}

}  // namespace rondo

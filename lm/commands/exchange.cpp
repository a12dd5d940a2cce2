// `lm export` writes a run for PyTorch or ONNX; `lm import` makes a run, which every command can use, of
// weights that another program has trained. The file of weights: lm/training/foreign_weights.h.
#include <fmt/ranges.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "data/files/files.h"
#include "data/files/input_file.h"
#include "data/files/onnx.h"
#include "lm/commands/options.h"
#include "lm/program/cli.h"
#include "lm/program/compute.h"
#include "lm/program/files.h"
#include "lm/program/recipe.h"
#include "lm/program/run.h"
#include "lm/program/terminal.h"
#include "lm/settings/settings.h"
#include "lm/training/checkpoint.h"
#include "lm/training/foreign_weights.h"
#include "nn/cells/rnn.h"
#include "nn/models/language_model.h"

/// The programs of lm/program/exported, each ended by a zero (lm/program/embedded_files.cpp).
extern "C" const char rondo_exported_pytorch[], rondo_exported_cells[], rondo_exported_onnx[],
    rondo_exported_use[];

namespace rondo {

// --- Export ---

/// The files of an export that can be imported.
constexpr const char *weights_name = "model.safetensors", *vocabulary_name = "vocab.txt",
                     *recipe_name = "recipe.toml";

/// The operator of ONNX that computes what a cell does.
struct Counterpart {
  std::string cell, onnx;
  std::vector<std::size_t> gates;  // in ONNX's order: their indices here
  bool resets_after = false;       // a GRU
};

namespace {

bool has_relu(const LanguageModelOptions& options) {
  return options.cell == "rnn" && options.cell_settings.get<RnnSettings>().activation == RnnActivation::relu;
}

/// The model as a graph. Inputs: ids [T, B]; of each layer i the state h_li and, of an LSTM, c_li [1, B, H].
/// Outputs: log_probabilities [T, B, V] of the symbol after each; the states next_h_li, next_c_li.
class Exporter {
 public:
  Exporter(const LanguageModel& model, const Counterpart& cell) : model_(model), cell_(cell) {}

  OnnxGraph graph() {
    const LanguageModelOptions& options = model_.options();
    const std::int64_t V = model_.vocabulary_size();
    graph_.add_input("ids", OnnxGraph::Type::int64, {"T", "B"});
    graph_.add_output("log_probabilities", OnnxGraph::Type::float32, {"T", "B", V});
    std::string x = embedded("ids");
    for (std::size_t i = 0; i < options.hidden.size(); ++i) x = layer(x, i, options.hidden[i]);
    for (std::size_t i = 0; i < options.output_layers.size(); ++i) {
      const std::string name = fmt::format("output_layer_{}", i);
      x = linear(x, name, constant(name + ".weight"));
      if (options.output_activation == OutputActivation::tanh) x = node("Tanh", {x}, name + "_activation");
    }
    const std::string weight = options.tied ? "embedding.weight" : constant("decoder.weight");
    graph_.add_node("LogSoftmax", {linear(x, "decoder", weight)}, {"log_probabilities"},
                    {{"axis", std::int64_t{-1}}});
    return std::move(graph_);
  }

 private:
  /// A node with one output, which is named `output`.
  std::string node(const std::string& op, const std::vector<std::string>& inputs, const std::string& output,
                   const OnnxGraph::Attributes& attributes = {}) {
    graph_.add_node(op, inputs, {output}, attributes);
    return output;
  }

  /// The numbers of a parameter; none if the model does not have it.
  std::vector<float> numbers_of(const std::string& name) const {
    const std::optional<Tensor> values = parameter_named(model_, name);
    const std::vector<real> numbers = values ? values->to_vector() : std::vector<real>();
    return {numbers.begin(), numbers.end()};
  }

  /// A parameter as it is.
  std::string constant(const std::string& name) {
    const std::vector<float> numbers = numbers_of(name);
    graph_.add_constant(name, extents(parameter_named(model_, name).value().shape()), numbers);
    return name;
  }

  /// The vectors of symbols, [T, B, E]; without an embedding zeros with a 1.
  std::string embedded(const std::string& ids) {
    if (model_.options().embedding > 0)
      return node("Gather", {constant("embedding.weight"), ids}, "embedded");
    const std::vector<std::int64_t> depth{model_.vocabulary_size()};
    const std::vector<float> off_and_on{0, 1};
    graph_.add_constant("vocabulary_size", {1}, depth);
    graph_.add_constant("off_and_on", {2}, off_and_on);
    return node("OneHot", {ids, "vocabulary_size", "off_and_on"}, "embedded");
  }

  /// x W^T + b, with the bias `name`.bias.
  std::string linear(const std::string& x, const std::string& name, const std::string& weight) {
    const std::string transposed =
        node("Transpose", {weight}, name + ".transposed", {{"perm", std::vector<std::int64_t>{1, 0}}});
    return node("Add", {node("MatMul", {x, transposed}, name + ".product"), constant(name + ".bias")},
                name + ".output");
  }

  /// Rows of gates of H units each, in ONNX's order.
  std::vector<float> in_onnx_order(const std::vector<float>& stacked) const {
    const auto size = static_cast<std::ptrdiff_t>(stacked.size() / cell_.gates.size());
    std::vector<float> ordered;
    for (const std::size_t gate : cell_.gates) {
      const auto begin = stacked.begin() + static_cast<std::ptrdiff_t>(gate) * size;
      ordered.insert(ordered.end(), begin, begin + size);
    }
    return ordered;
  }

  /// A recurrent layer: x [T, B, I] to [T, B, H].
  std::string layer(const std::string& x, std::size_t i, std::int64_t H) {
    const std::string suffix = fmt::format("_l{}", i), rnn = "rnn.";
    const auto G = static_cast<std::int64_t>(cell_.gates.size());
    const auto weight = [&](const std::string& name) {
      const std::vector<float> stacked = in_onnx_order(numbers_of(rnn + name + suffix));
      const std::int64_t rows = G * H;
      graph_.add_constant(rnn + name + suffix, {1, rows, std::ssize(stacked) / rows}, stacked);
      return rnn + name + suffix;
    };
    std::vector<float> biases;  // of the input, then of the recurrence; zeros for one that is absent
    for (const char* name : {"bias_ih", "bias_hh"}) {
      std::vector<float> bias = in_onnx_order(numbers_of(rnn + name + suffix));
      bias.resize(static_cast<std::size_t>(G * H));
      biases.insert(biases.end(), bias.begin(), bias.end());
    }
    graph_.add_constant(rnn + "bias" + suffix, {1, 2 * G * H}, biases);

    std::vector<std::string> inputs = {x, weight("weight_ih"), weight("weight_hh"), rnn + "bias" + suffix,
                                       ""},
                             outputs = {rnn + "sequence" + suffix};
    const std::vector<OnnxGraph::Extent> extents_of_state{std::int64_t{1}, "B", H};
    for (const char state : std::string(cell_.onnx == "LSTM" ? "hc" : "h")) {
      inputs.push_back(state + suffix);
      outputs.push_back(fmt::format("next_{}{}", state, suffix));
      graph_.add_input(inputs.back(), OnnxGraph::Type::float32, extents_of_state);
      graph_.add_output(outputs.back(), OnnxGraph::Type::float32, extents_of_state);
    }
    OnnxGraph::Attributes attributes{{"hidden_size", H}};
    if (has_relu(model_.options())) attributes.emplace_back("activations", std::vector<std::string>{"Relu"});
    if (cell_.onnx == "GRU") attributes.emplace_back("linear_before_reset", std::int64_t{cell_.resets_after});
    graph_.add_node(cell_.onnx, inputs, outputs, attributes);
    if (i == 0) {
      const std::vector<std::int64_t> axis{1};  // of directions, of which there is one
      graph_.add_constant("directions", {1}, axis);
    }
    return node("Squeeze", {outputs.front(), "directions"}, rnn + "output" + suffix);
  }

  const LanguageModel& model_;
  const Counterpart& cell_;
  OnnxGraph graph_;
};

/// PyTorch: the run's own file. ONNX: a graph of ONNX's operators.
enum class ExportFormat { pytorch, onnx };
std::vector<std::string> names_of(ExportFormat) { return {"pytorch", "onnx"}; }

struct ExportOptions {
  std::string run;
  ExportFormat format = ExportFormat::pytorch;
  std::string out;  // the folder to make
};

const std::vector<Counterpart> counterparts = {
    {"rnn", "RNN", {0}},
    {"lstm", "LSTM", {0, 3, 1, 2}},  // i o f c of i f g o
    {"gru", "GRU", {1, 0, 2}},       // z r h of r z n
    {"gru_reset_after", "GRU", {1, 0, 2}, true},
};

/// The keys of the model and of its text that an export has, or on which a trained model does not depend. Any
/// other must have its default, so that a new one is never left out of an export unseen.
const std::set<std::string> exportable_keys = {
    "data.unit", "data.pieces", "data.pieces_model", "data.strip_lines", "model.cell", "model.activation",
    "model.biases", "model.layers", "model.embedding", "model.hidden", "model.output_layers",
    "model.output_activation", "model.tied",
    // Which text the model has seen, and how.
    "data.vocabulary", "data.vocabulary_file", "data.min_count", "data.max_size", "data.unknown",
    "data.train_files", "data.files", "data.block_lines", "data.memory", "data.batching", "data.evaluated_as",
    // Initial values.
    "model.embedding_file", "model.embedding_init", "model.embedding_range", "model.input_init",
    "model.input_range", "model.recurrent_init", "model.recurrent_range", "model.output_init",
    "model.output_range", "model.init_all", "model.forget_bias",
    // Dropout. Zoneout acts in evaluations, too.
    "model.dropout", "model.input_dropout", "model.hidden_dropout", "model.output_dropout",
    "model.variational", "model.embedding_dropout", "model.weight_drop", "model.recurrent_dropout"};

/// An export to PyTorch has these as well, and all settings of the cell.
const std::set<std::string> exportable_to_pytorch = {"model.trained_initial_states",
                                                     "model.block",
                                                     "model.expansion",
                                                     "model.convolution",
                                                     "model.gate",
                                                     "model.feed_forward",
                                                     "model.experts",
                                                     "model.latent_dropout",
                                                     "model.output",
                                                     "model.cutoffs",
                                                     "model.cluster_divisor"};

/// The counterpart of a cell in ONNX. InputError if there is none.
const Counterpart& counterpart_of(const std::string& cell, const std::string& run) {
  std::vector<std::string> cells;
  for (const Counterpart& it : counterparts) {
    if (it.cell == cell) return it;
    cells.push_back(it.cell);
  }
  throw InputError(fmt::format("{}: the cell {} cannot be exported to onnx; these can: {}", run, cell,
                               fmt::join(cells, ", ")));
}

/// InputError, naming the setting, for what the format does not have.
void check_exportable(Recipe& recipe, ExportFormat format, const std::string& run) {
  const bool is_onnx = format == ExportFormat::onnx;
  LanguageModelOptions& model = recipe.language_model().model;
  if (is_onnx) counterpart_of(model.cell, run);
  const std::string entry = fmt::format("\"{}\": [", model.cell);
  check_input(is_onnx || std::string_view(rondo_exported_cells).find(entry) != std::string_view::npos,
              "{}: the cell {} cannot be exported to pytorch", run, model.cell);
  Recipe defaults;
  const Keys standard = keys_of(defaults),
             of_cell = section("model", keys_of(model.cell_settings, model.cell));
  for (const Key& key : keys_of(recipe)) {
    const bool is_exportable =
        (!key.name.starts_with("model.") && !key.name.starts_with("data.")) ||
        exportable_keys.contains(key.name) ||
        (!is_onnx && (exportable_to_pytorch.contains(key.name) || has_key(of_cell, key.name))) ||
        value_text(key) == default_text(key, standard);
    check_input(is_exportable, "{}: {} = {} cannot be exported", run, key.name, value_text(key));
  }
}

/// Returns what model.py must know; it reads the rest off the weights.
nlohmann::ordered_json config_of(const LanguageModel& model, const Tokenization& tokenization) {
  LanguageModelOptions it = model.options();
  nlohmann::ordered_json settings = nlohmann::ordered_json::object();
  for (const Key& key : keys_of(it.cell_settings, it.cell))
    settings[key.name] = nlohmann::ordered_json::parse(value_text(key));
  std::vector<std::int64_t> units = it.hidden;
  for (std::int64_t& width : units) width = it.block.cell_units(width);
  const char* const activation = it.output_activation == OutputActivation::tanh ? "Tanh" : "Identity";
  return {{"unit", name_of(tokenization.unit)},
          {"strip_lines", tokenization.strip_lines},
          {"model",
           {{"vocabulary", model.vocabulary_size()},
            {"cell", it.cell},
            {"settings", std::move(settings)},
            {"units", units},
            {"output_activation", activation}}}};
}

void write_export(const std::filesystem::path& out, ExportFormat format, OpenRun& run) {
  const auto& model = dynamic_cast<LanguageModel&>(*run.model);
  const Vocabulary& vocabulary = run.task().vocabulary();
  const bool is_onnx = format == ExportFormat::onnx;
  if (is_onnx) {  // first, because a file of the format may be too small for it
    Exporter(model, counterpart_of(model.options().cell, "")).graph().write(out / "model.onnx", version());
  } else {
    save_model(out / weights_name, model);
    write_atomically(out / recipe_name, write_toml(keys_of(run.config.recipe)));
    write_atomically(out / "cells.py", rondo_exported_cells);
  }
  const nlohmann::ordered_json config = config_of(model, vocabulary.tokenization());
  for (const auto& [name, content] : files_of(vocabulary, vocabulary_name))
    write_atomically(out / name, content);
  write_atomically(out / "config.json", config.dump(2) + "\n");
  write_atomically(out / "model.py", is_onnx ? rondo_exported_onnx : rondo_exported_pytorch);
  write_atomically(out / "use.py", rondo_exported_use);
}

/// Makes the folder. Returns 0. InputError for a model with parts that the format does not have.
int export_run(const ExportOptions& options) {
  OpenRun run = open_run(options.run);
  const auto& task = run.task_as<LanguageModellingTask>("language_modelling");
  check_exportable(run.config.recipe, options.format, options.run);
  make_whole_folder(options.out, "",
                    [&](const RunFolder& made) { write_export(made.path, options.format, run); });
  print_line(fmt::format("{}: {} parameters, {} symbols; to use it: {}", options.out,
                         run.model->parameter_count(), task.vocabulary().size(),
                         shell_command({"python3", options.out + "/use.py"})));
  return 0;
}

}  // namespace

Command add_export(CommandLine& line) {
  const auto options = std::make_shared<ExportOptions>();
  CLI::App& app = add_command(
      line, "export", "write a language model for PyTorch or ONNX",
      "lm export runs/char-lstm-1 --format onnx --out exported",
      "The folder has the weights, vocab.txt, model.py, which loads the model, and use.py, which prints what "
      "lm score prints, and samples. Of --format pytorch, lm import FOLDER makes a run again.");
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

// `lm export`: a language model for other programs. A format is a folder with the weights, vocab.txt,
// config.json, model.py, which loads the model, and use.py, which scores and samples with it
// (lm/program/exported); that of PyTorch has recipe.toml, too, so that `lm import` reads it.
#include "lm/program/export.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "data/files.h"
#include "lm/commands/options.h"
#include "lm/program/embedded_files.h"
#include "lm/program/run.h"
#include "lm/program/shell_command.h"
#include "lm/training/checkpoint.h"

namespace rondo {
namespace {

/// PyTorch: the run's own file. ONNX: a graph of ONNX's operators.
enum class ExportFormat { pytorch, onnx };
std::vector<std::string> names_of(ExportFormat) { return {"pytorch", "onnx"}; }

struct ExportOptions {
  std::string run;
  ExportFormat format = ExportFormat::pytorch;
  std::string out;  // the folder to make
};

/// Every cell that another program has.
const std::vector<Counterpart> counterparts = {
    {"rnn", "RNN", "RNN", {0}},
    {"lstm", "LSTM", "LSTM", {0, 3, 1, 2}},  // i o f c of i f g o
    {"gru", "", "GRU", {1, 0, 2}},           // z r h of r z n
    {"gru_reset_after", "GRU", "GRU", {1, 0, 2}, true},
};

std::string name_in(const Counterpart& it, ExportFormat format) {
  return format == ExportFormat::onnx ? it.onnx : it.pytorch;
}

/// The counterpart of a model's cell. InputError, naming the setting, for what the format does not have.
const Counterpart& checked_counterpart(const Recipe& recipe, ExportFormat format, const std::string& run) {
  const LanguageModelOptions& model = recipe.language_model().model;
  std::vector<std::string> cells;
  const Counterpart* found = nullptr;
  for (const Counterpart& it : counterparts) {
    if (name_in(it, format).empty()) continue;
    cells.push_back(it.cell);
    if (it.cell == model.cell) found = &it;
  }
  const char* const other =
      model.cell == "gru" && format == ExportFormat::pytorch ? "; --format onnx has one" : "";
  check_input(found, "{}: the cell {} cannot be exported to {}, which has a layer for {}{}", run, model.cell,
              name_of(format), fmt::join(cells, ", "), other);
  const auto refuse_if = [&](bool refused, const char* setting) {
    check_input(!refused, "{}: {} cannot be exported", run, setting);
  };
  const auto& ratios = model.major_ratio;
  refuse_if(std::any_of(ratios.begin(), ratios.end(), [](double it) { return it != 1; }),
            "model.major_ratio: a minor cell");
  refuse_if(model.experts > 1, "model.experts: a mixture of softmaxes");
  refuse_if(model.output == OutputKind::adaptive, "model.output: an adaptive softmax");
  refuse_if(model.trained_initial_states, "model.trained_initial_states: an initial state other than zeros");
  refuse_if(model.regularization.zoneout > 0 || model.regularization.zoneout_memory > 0,
            "model.zoneout, which averages states in evaluations, too,");
  refuse_if(recipe.language_model().data.tokenization.unit == Unit::pieces,
            "data.unit = \"pieces\": its division of words");
  return *found;
}

/// What model.py must know.
nlohmann::ordered_json config_of(const LanguageModel& model, const Tokenization& tokenization,
                                 const Counterpart& cell) {
  const LanguageModelOptions& it = model.options();
  const char* const activation = it.output_activation == OutputActivation::tanh ? "Tanh" : "Identity";
  return {{"unit", name_of(tokenization.unit)},
          {"strip_lines", tokenization.strip_lines},
          {"model",
           {{"vocabulary", model.vocabulary_size()},
            {"embedding", it.embedding},
            {"cell", cell.pytorch.empty() ? cell.onnx : cell.pytorch},
            {"hidden", it.hidden},
            {"output_layers", it.output_layers},
            {"output_activation", activation},
            {"tied", it.tied}}}};
}

/// A folder that is filled, and emptied or removed again if that fails.
class NewFolder {
 public:
  /// InputErrors of check_new_run_folder(); Error if it cannot be made.
  explicit NewFolder(std::filesystem::path path) : path_(std::move(path)) {
    check_new_run_folder(path_);
    std::error_code error;
    is_new_ = std::filesystem::create_directories(path_, error);
    check(!error, "cannot make the folder {}: {}", path_.string(), error.message());
  }
  ~NewFolder() {
    if (is_kept_) return;
    std::error_code ignored;
    if (is_new_) {
      std::filesystem::remove_all(path_, ignored);
      return;
    }
    for (const auto& entry : std::filesystem::directory_iterator(path_, ignored))
      std::filesystem::remove(entry.path(), ignored);
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  void keep() { is_kept_ = true; }

 private:
  std::filesystem::path path_;
  bool is_new_ = false, is_kept_ = false;
};

/// Makes the folder, whole or not at all. Returns 0. InputError for a model with parts that the format does
/// not have.
int export_run(const ExportOptions& options) {
  const OpenRun run = open_run(options.run);
  const Counterpart& cell = checked_counterpart(run.config.recipe, options.format, options.run);
  NewFolder folder(options.out);
  const std::filesystem::path& out = folder.path();
  const ExportFolder files{out};
  const bool is_onnx = options.format == ExportFormat::onnx;
  const Tokenization& tokenization = run.config.recipe.task->tokenization();
  if (is_onnx)  // first, because a file of the format may be too small for it
    write_onnx(out / "model.onnx", *run.model, cell);
  else
    save_model(files.model(), *run.model);
  if (!is_onnx) {
    Recipe recipe = run.config.recipe;
    write_atomically(files.recipe(), write_toml(keys_of(recipe)));
  }
  write_atomically(files.vocabulary(), run.vocabulary.to_text());
  write_atomically(out / "config.json", config_of(*run.model, tokenization, cell).dump(2) + "\n");
  write_atomically(out / "model.py", is_onnx ? rondo_exported_onnx : rondo_exported_pytorch);
  write_atomically(out / "use.py", rondo_exported_use);
  folder.keep();
  fmt::print("{0}: {1} parameters, {2} symbols; to use it: python3 {0}/use.py\n", out.string(),
             run.model->parameter_count(), run.model->vocabulary_size());
  return 0;
}

}  // namespace

Command add_export(CommandLine& line) {
  const auto options = std::make_shared<ExportOptions>();
  CLI::App& app = add_command(
      line, "export", "write a language model for PyTorch or ONNX",
      "lm export runs/char-lstm-1 --format onnx --out exported",
      "The folder has the weights, vocab.txt, config.json, model.py, which loads the model, and use.py, "
      "which "
      "prints what lm score prints, and samples: python3 FOLDER/use.py score < LINES. For PyTorch the "
      "weights "
      "are in safetensors, under the names of its modules, and recipe.toml has the settings of the run, so "
      "that lm import FOLDER makes a run again. The graph of ONNX reads ids [T, B] and the states, and gives "
      "the log-probabilities [T, B, V] of what follows, and the next states.");
  app.add_option("run", options->run, "the run folder")->type_name("RUN");
  add_choice<ExportFormat>(app, "--format", options->format, "pytorch or onnx")
      ->default_str(name_of(options->format));
  add_text(app, "--out", options->out, "FOLDER", "the folder to make");
  return {&app, [options, &app] {
            check_run_given(app, options->run, "runs/char-lstm-1 --format onnx --out exported");
            check_input(!options->out.empty(), "export: no folder given; as in: {}",
                        command_with({"export", options->run, "--out", "exported"}));
            return export_run(*options);
          }};
}

}  // namespace rondo

// `lm export`: a language model for other programs. A format is a folder with the weights, vocab.txt,
// config.json, model.py, which loads the model, and use.py, which scores and samples with it; that of PyTorch
// has recipe.toml, too, so that `lm import` reads it. ONNX: lm/program/export_onnx.cpp. The other direction:
// lm/program/import.h.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "nn/models/language_model.h"

namespace rondo {

/// PyTorch: the run's own file. ONNX: a graph of ONNX's operators.
enum class ExportFormat { pytorch, onnx };
inline std::vector<std::string> names_of(ExportFormat) { return {"pytorch", "onnx"}; }

/// The paths of the files that can be imported.
struct ExportFolder {
  std::filesystem::path path;

  std::filesystem::path model() const { return path / "model.safetensors"; }
  std::filesystem::path vocabulary() const { return path / "vocab.txt"; }
  std::filesystem::path recipe() const { return path / "recipe.toml"; }
};

struct ExportOptions {
  std::string run;
  ExportFormat format = ExportFormat::pytorch;
  std::string out;  // the folder to make
};

/// Makes the folder, whole or not at all. Returns 0. InputError for a model with parts that the format does
/// not have.
int export_run(const ExportOptions& options);

/// The layer of another program that computes what a cell does.
struct Counterpart {
  std::string cell;
  std::string pytorch, onnx;       // names; empty: there is none
  std::vector<std::size_t> gates;  // in ONNX's order: their indices here
  bool resets_after = false;       // a GRU
};
/// Of every cell that has one.
const std::vector<Counterpart>& counterparts();

/// Writes the model as a graph. Inputs: ids [T, B]; of each layer i the state h_li and, of an LSTM, c_li [1,
/// B, H]. Outputs: log_probabilities [T, B, V] of the symbol after each; the states next_h_li, next_c_li.
void write_onnx(const std::filesystem::path& path, const LanguageModel& model, const Counterpart& cell);

}  // namespace rondo

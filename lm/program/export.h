// The parts of `lm export` (lm/commands/export.cpp) that others use: the folder that `lm import` reads, and
// ONNX.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "nn/models/language_model.h"

namespace rondo {

/// The paths of the files that can be imported.
struct ExportFolder {
  std::filesystem::path path;

  std::filesystem::path model() const { return path / "model.safetensors"; }
  std::filesystem::path vocabulary() const { return path / "vocab.txt"; }
  std::filesystem::path recipe() const { return path / "recipe.toml"; }
};

/// The layer of another program that computes what a cell does.
struct Counterpart {
  std::string cell;
  std::string pytorch, onnx;       // names; empty: there is none
  std::vector<std::size_t> gates;  // in ONNX's order: their indices here
  bool resets_after = false;       // a GRU
};

/// Writes the model as a graph. Inputs: ids [T, B]; of each layer i the state h_li and, of an LSTM, c_li [1,
/// B, H]. Outputs: log_probabilities [T, B, V] of the symbol after each; the states next_h_li, next_c_li.
void write_onnx(const std::filesystem::path& path, const LanguageModel& model, const Counterpart& cell);

}  // namespace rondo

// `lm import`: weights that another program has trained, as a run that every command can use. The file of
// weights: lm/training/foreign_weights.h. The other direction: lm/program/export.h.
#pragma once

#include <string>
#include <vector>

#include "lm/program/settings.h"

namespace rondo {

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

/// Makes a run of a language model, and prints what it has. Returns 0.
int import_weights(const ImportOptions& options);

}  // namespace rondo

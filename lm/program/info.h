// `lm info`: the model of a run or a recipe; or the lists of operators, settings and cells.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lm/program/recipe.h"

namespace rondo {

struct InfoOptions {
  // Exactly one of these five is given.
  std::string run;
  std::string recipe;
  bool operators = false;
  bool keys = false;
  bool cells = false;

  std::vector<Setting> settings;     // they override the recipe's
  std::int64_t vocabulary_size = 0;  // with recipe; 0: the recipe's data.max_size
  std::string data;                  // with recipe, of language models: its vocabulary is counted
  bool json = false;
  bool markdown = false;  // with cells: the table of docs/cells.md
};

/// Prints on stdout. Returns 0.
int info(const InfoOptions& options);

}  // namespace rondo

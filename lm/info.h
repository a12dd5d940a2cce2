// `lm info`: what a run or a recipe would build, and what the library and the recipes know.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lm/recipe.h"
#include "nn/module.h"

namespace rondo {

struct InfoOptions {
  // Exactly one of these four is asked for.
  std::string run;
  std::string recipe;
  bool operators = false;
  bool keys = false;

  std::vector<Setting> settings;     // on top of recipe
  std::int64_t vocabulary_size = 0;  // with recipe; 0: the recipe's data.max_size
  bool json = false;
};

/// Bytes of the tensors of a training at their peak, estimated; the formula is in info.cpp. Text and program
/// come on top of it.
std::int64_t training_bytes(const Recipe& recipe, const Module& model);

/// Prints on stdout. Returns 0.
int info(const InfoOptions& options);

}  // namespace rondo

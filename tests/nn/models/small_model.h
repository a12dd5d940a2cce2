// The model that tests of nn/ take where none in particular is wanted.
#pragma once

#include "nn/models/language_model.h"

namespace rondo {

inline LanguageModelOptions small(const std::string& cell = "lstm") {
  LanguageModelOptions options;
  options.cell = cell;
  options.embedding = 4;
  options.hidden = {5, 6};
  return options;
}

}  // namespace rondo

// The figures that a paper reports for a recipe's model: the recipe's section [published]. How they are shown
// beside measured figures: lm/program/published.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tensor/keys.h"

namespace rondo {

enum class PublishedUnit { perplexity, bits, nats };  // bits and nats are per symbol
inline std::vector<std::string> names_of(PublishedUnit) { return {"perplexity", "bits", "nats"}; }

/// 0 where the paper has no figure.
struct PublishedFigures {
  struct Splits {
    double valid = 0, test = 0;
  };
  Splits trained{}, finetuned{}, dynamic{}, cache{};
  PublishedUnit unit = PublishedUnit::perplexity;
  std::int64_t vocabulary = 0, test_symbols = 0;  // of the paper's text; 0: not known
};
Keys keys_of(PublishedFigures& published);

}  // namespace rondo

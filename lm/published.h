// What a paper reports of a recipe's model, as it is shown beside what was measured here.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "lm/recipe.h"

namespace rondo {

/// {"valid", "test", "unit"}, null where the paper prints nothing; and, if it has them, of the "finetuned"
/// model, with "dynamic" evaluation and with a "cache" each {"valid", "test"}.
nlohmann::ordered_json published_json(const Recipe::Published& published);

/// "perplexity: valid 60.7, test 58.8; finetuned 60, 57.3", or nothing.
std::string published_text(const Recipe::Published& published);

}  // namespace rondo

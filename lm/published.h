// What a paper reports of a recipe's model, as it is shown beside what was measured here.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "lm/recipe.h"

namespace rondo {

/// The paper's figure on a split of a model that adapts as `how` says, 0 where there is none. Figures of
/// models that adapt are those of the finetuned model where the paper has one.
double published_figure(const Recipe::Published& published, bool finetuned, const std::string& split,
                        bool dynamic, bool cache);
/// Whether a text with so many types can be the paper's; the second, of the symbols scored of its test text.
bool may_be_the_papers(const Recipe::Published& published, std::int64_t vocabulary_size);
bool may_be_the_papers(const Recipe::Published& published, std::int64_t vocabulary_size,
                       std::int64_t test_symbols_scored);

/// {"valid", "test", "unit"}, null where the paper prints nothing; and, if it has them, of the "finetuned"
/// model, with "dynamic" evaluation and with a "cache" each {"valid", "test"}.
nlohmann::ordered_json published_json(const Recipe::Published& published);

/// "perplexity: valid 60.7, test 58.8; finetuned 60, 57.3", or nothing.
std::string published_text(const Recipe::Published& published);

}  // namespace rondo

// What a paper reports of a recipe's model, as it is shown beside what was measured here.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "lm/program/recipe.h"

namespace rondo {

/// The paper's figure on a split, "valid" or "test", of a model that is finetuned or not and adapts to the
/// text or not; 0 where there is none. Figures of models that adapt are those of the finetuned model where
/// the paper has one. (The recipe of a finetuned run has the figures of finetuned models in the place of
/// others.)
double published_figure(const PublishedFigures& published, bool finetuned, const std::string& split,
                        bool dynamic, bool cache);
/// Whether a text with so many types, and so many symbols scored of its test text, can be the paper's.
bool may_be_the_papers(const PublishedFigures& published, std::int64_t types,
                       std::optional<std::int64_t> test_symbols_scored);
/// How a text is read for figures that can be compared with published ones (Reading::text()): exactly, in the
/// way of the recipe.
std::string published_reading(Recipe recipe);
/// Whether the model is that of the recipe's name: false where that is built in, and a setting of the model
/// has been changed, other than of dropout.
bool is_published_model(const Recipe& recipe);

/// {"valid", "test", "unit"}, null where the paper prints nothing; and, if it has them, of the "finetuned"
/// model, with "dynamic" evaluation and with a "cache" each {"valid", "test"}.
nlohmann::ordered_json published_json(const PublishedFigures& published);

/// "perplexity: valid 60.7, test 58.8; finetuned 60, 57.3", or nothing.
std::string published_text(const PublishedFigures& published);

}  // namespace rondo

// One recipe trained in a process of its own, whose memory is then the recipe's alone.
#pragma once

#include <string>
#include <vector>

#include "lm/recipe.h"

namespace rondo {

/// Recipes for words and for characters read random symbols out of so many.
int64_t vocabulary_size(const Recipe& recipe);
constexpr int warm_up_updates = 3;

/// Trains a recipe with further settings, "KEY=VALUE". Says what it trains; then answers each line of the
/// input, "SECONDS" or "profile SECONDS", by training for at least so long (bench/peer.h). Returns at the end
/// of the input.
void train_on_request(const std::string& recipe_file, const std::vector<std::string>& settings);

}  // namespace rondo

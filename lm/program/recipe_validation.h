// Whether the settings of a recipe go together, before a text is read or memory taken: what one key allows is
// said beside it, in recipe.cpp.
#pragma once

#include <string>

#include "lm/program/recipe.h"

namespace rondo {

/// InputError if settings contradict each other; `where` (a recipe's name or file) begins the text, which
/// names the keys and what would mend it.
void validate(const Recipe& recipe, const std::string& where);

}  // namespace rondo

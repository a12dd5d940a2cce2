// Whether the settings of a recipe are consistent; checked before a text is read or memory is allocated. The
// range of a single key is in its table of keys.
#pragma once

#include <string>

#include "lm/program/recipe.h"

namespace rondo {

/// InputError if settings contradict each other; `where` (a recipe's name or file) begins the text, which
/// names the keys and a remedy.
void validate(const Recipe& recipe, const std::string& where);

}  // namespace rondo

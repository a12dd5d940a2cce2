// The files of a run's text, of any task.
#pragma once

#include <string>
#include <vector>

#include "data/corpus.h"
#include "lm/program/recipe.h"

namespace rondo {

/// The files, with their SHA-256, that a training by `recipe` reads where its data is; none of a text that is
/// generated. Nothing is encoded. InputErrors of opening the text; pipes are refused.
std::vector<FileDigest> files_of_text(const Recipe& recipe, const std::string& data);

}  // namespace rondo

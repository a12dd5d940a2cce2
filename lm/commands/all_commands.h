// The commands of `lm`, for it and for programs that add a cell, an operator or a task of their own.
#pragma once

#include <vector>

#include "lm/program/cli.h"

namespace rondo {

std::vector<AddCommand*> all_commands();

}  // namespace rondo

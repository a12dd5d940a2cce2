// How ranks begin together or not at all: an error that only some of them have must not leave the others
// waiting, and is reported once. Next: lm/program/mpi_ranks.h, lm/program/train.cpp.
#pragma once

#include <functional>
#include <string>

#include "lm/training/ranks.h"

namespace rondo {

/// Calls prepare() on all ranks. If it throws on some of them, all end: the first of these with its error,
/// the others silently, by Stopped.
void prepare_together(Ranks& ranks, const std::function<void()>& prepare);

/// InputError on rank 0, and Stopped on the others, unless all have the digest of rank 0. All have as many
/// characters.
void check_same_digest(Ranks& ranks, const std::string& digest);

}  // namespace rondo

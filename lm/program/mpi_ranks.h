// The ranks that `mpirun -n N lm ...` starts, which communicate by MPI, and how they begin together or not at
// all: an error that only some of them have must not leave the others waiting, and is reported once. Next:
// lm/program/train.cpp.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "lm/training/ranks.h"

namespace rondo {

/// How many processes were started together by mpirun; 1 without it.
int started_together();

/// Meets the other processes that mpirun started; they part when it is destroyed. Null if there are none.
/// InputError if there are some, and this program was built without MPI.
std::unique_ptr<Ranks> meet_ranks();

/// Ends all ranks at once, after an error that only this one has: the others would wait for it for ever.
[[noreturn]] void abort_ranks(int exit_status);

/// Calls prepare() on all ranks. If it throws on some of them, all end: the first of these with its error,
/// the others silently, by Stopped.
void prepare_together(Ranks& ranks, const std::function<void()>& prepare);

/// InputError on rank 0, and Stopped on the others, unless all have the digest of rank 0. All have as many
/// characters.
void check_same_digest(Ranks& ranks, const std::string& digest);

}  // namespace rondo

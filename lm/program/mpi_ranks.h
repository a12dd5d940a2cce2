// The ranks that `mpirun -n N lm ...` starts, which communicate by MPI. Next: lm/program/agreement.h.
#pragma once

#include <memory>

#include "lm/training/ranks.h"

namespace rondo {

/// How many processes were started together by mpirun; 1 without it.
int started_together();

/// Meets the other processes that mpirun started; they part when it is destroyed. Null if there are none.
/// InputError if there are some, and this program was built without MPI.
std::unique_ptr<Ranks> meet_ranks();

/// Ends all ranks at once, after an error that only this one has: the others would wait for it for ever.
[[noreturn]] void abort_ranks(int exit_status);

}  // namespace rondo

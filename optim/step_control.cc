// Compiled twice: by g++ for the CPU and by nvcc for CUDA.
// The decision on a training step, made by one thread.
#include "optim/step_control.h"

#include "tensor/kernels/launch.h"

namespace rondo::BACKEND {
namespace {

struct DecideStep {
  const real *loss, *squares;
  real most, guard;
  const int64_t* slot;
  StepRecord* records;
  StepDecision* decision;
  HD void operator()(Row, int64_t) const {
    if (!Row::first()) return;
    const real norm = sqrt(Scalar(*squares)).value;
    records[*slot] = {*loss, norm};
    const real ratio = most / (norm + guard);
    decision->gradient_scale = most > 0 && ratio < 1 ? ratio : real(1);
    const auto finite = [](real x) { return x - x == 0; };
    if (!finite(*loss) || !finite(norm)) decision->stop = 1;
  }
};

}  // namespace

void decide_step(const real* loss, const real* squares, real most, real guard, const int64_t* slot,
                 StepRecord* records, StepDecision* decision) {
  launch_rows({1, 1}, DecideStep{loss, squares, most, guard, slot, records, decision});
}

}  // namespace rondo::BACKEND

// The loops of pointwise operators over time, forward and backward: one pass over memory, in which each
// sequence carries the operator's state from step to step. Next: tensor/kernels/operator_entries.h.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "tensor/kernels/pointwise_kernels.h"
#include "tensor/threads.h"

namespace rondo {
namespace BACKEND {
namespace {
namespace detail {

/// Steps of equal numbers of rows: the first one begins at row `begin`, the step before it at row `before`,
/// which is negative if there is none.
struct StepRun {
  int64_t begin, before, rows, steps;

  /// The place of sequence b in step t of the run.
  HD Place place(int64_t t, int64_t b, int64_t column, int64_t count) const {
    return {begin + t * rows + b, column, count, b};
  }
  /// The place of the same sequence in the step before; its row is negative if there is none.
  HD Place place_before(int64_t t, Place now) const {
    if (t > 0) return now.at(now.row - rows);
    return now.at(before < 0 ? -1 : before + now.sequence);
  }
};
inline std::vector<StepRun> runs_of(std::span<const int64_t> rows) {
  std::vector<StepRun> runs;
  int64_t begin = 0, before = -1;
  for (const int64_t count : rows) {
    if (!runs.empty() && runs.back().rows == count)
      ++runs.back().steps;
    else
      runs.push_back({begin, before, count, 1});
    before = begin;
    begin += count;
  }
  return runs;
}

/// A step forward: what it reads but the state; the state, which it carries from step to step; the rest.
template <class Op>
struct ScanForward : Forward<Op> {
  using Base = Forward<Op>;
  static constexpr bool reverse = false;
  static constexpr int state = Op::state;
  struct Read {
    Group x[Base::N];
  };

  HD Group carried(Place now, Place before) const {
    return before.row < 0 ? now.at(now.sequence).load(this->inputs[state])
                          : before.load(this->outputs[Base::M - 1]);
  }
  HD Read read(Place now, Place) const {
    Read it;
    for (int j = 0; j < Base::N; ++j)
      if (j != state) it.x[j] = now.load(this->inputs[j]);
    return it;
  }
  HD Group finish(Place now, Read& read, const Group& before) const {
    read.x[state] = before;
    Group y[Base::M];
    this->compute(read.x, y, GroupSequence{});
    for (int k = 0; k < Base::M; ++k) now.store(this->outputs[k], y[k]);
    return y[Base::M - 1];
  }
  HD void keep(Place, const Group&) const {}  // the outputs have it
};

/// A step backward, which carries the gradient of the state.
template <class Op>
struct ScanBackward : Backward<Op> {
  using Base = Backward<Op>;
  static constexpr bool reverse = true;
  static constexpr int state = Op::state;
  Operand states, carry;
  struct Read {
    Group x[Base::N], dy[Base::M];
  };

  HD Group carried(Place now, Place) const { return now.at(now.sequence).load(carry); }
  HD Read read(Place now, Place before) const {
    Read it;
    for (int j = 0; j < Base::N; ++j)
      if (j != state) it.x[j] = now.load(this->inputs[j]);
    it.x[state] = before.row < 0 ? now.at(now.sequence).load(this->inputs[state]) : before.load(states);
    for (int k = 0; k < Base::M; ++k)
      it.dy[k] = now.load_if(this->output_gradients[k].data, this->output_gradients[k]);
    return it;
  }
  HD Group finish(Place now, Read& read, const Group& after) const {
    Group dx[Base::N];
    this->read_gradients(now, dx);
    return differentiate_step(now, read, after, dx, GroupSequence{});
  }
  template <int... I>
  HD Group differentiate_step(Place now, Read& read, const Group& after, Group* dx,
                              std::integer_sequence<int, I...> members) const {
    ((read.dy[Base::M - 1].lanes[I] = read.dy[Base::M - 1].lanes[I] + after.lanes[I]), ...);
    const decltype(call_on_duals<0>(this->op, read.x, InputSequence<Op>{})) y[] = {
        call_on_duals<I>(this->op, read.x, InputSequence<Op>{})...};
    this->contract(now, y, read.dy, dx, members, std::make_integer_sequence<int, Base::N>{});
    Group of_state{};
    (Base::template add_outputs<I, state>(y[I], read.dy, of_state.lanes[I],
                                          std::make_integer_sequence<int, Base::M>{}),
     ...);
    return of_state;
  }
  HD void keep(Place now, const Group& of_state) const { now.at(now.sequence).store(carry, of_state); }
};

#ifdef __CUDACC__
/// A thread for each group of each sequence: it reads what several steps need at once, so that it waits for
/// memory once for all of them, and carries the state in registers.
template <class Kernel>
struct OnSteps {
  static constexpr int at_once = Kernel::Base::N > 5 ? 2 : 4;  // more would not fit into registers
  Kernel kernel;
  StepRun run;
  int64_t columns;
  uint32_t groups;  // of a row
  HD void operator()(int64_t i) const {
    const uint32_t b = static_cast<uint32_t>(i) / groups;
    const int64_t column = int64_t{static_cast<uint32_t>(i) - b * groups} * Group::size;
    Group carried{};
    for (int64_t first = 0; first < run.steps; first += at_once) {
      typename Kernel::Read read[at_once];
#pragma unroll
      for (int s = 0; s < at_once; ++s)
        if (const Place now = place(first + s, b, column); first + s < run.steps)
          read[s] = kernel.read(now, run.place_before(step(first + s), now));
#pragma unroll
      for (int s = 0; s < at_once; ++s)
        if (const Place now = place(first + s, b, column); first + s < run.steps) {
          if (first + s == 0) carried = kernel.carried(now, run.place_before(step(0), now));
          carried = kernel.finish(now, read[s], carried);
        }
    }
    kernel.keep(place(0, b, column), carried);
  }
  /// The step in the order of the scan.
  HD int64_t step(int64_t i) const { return Kernel::reverse ? run.steps - 1 - i : i; }
  HD Place place(int64_t i, int64_t b, int64_t column) const {
    return run.place(step(i), b, column, columns - column);
  }
};
#endif

/// Runs a kernel over all steps: one pass over memory.
template <class Kernel>
void run_scan(std::span<const int64_t> rows, int64_t columns, [[maybe_unused]] int moved, Kernel kernel) {
  std::vector<StepRun> runs = runs_of(rows);
  if (Kernel::reverse) std::reverse(runs.begin(), runs.end());
#ifdef __CUDACC__
  const int64_t groups = (columns + Group::size - 1) / Group::size;
  for (const StepRun& run : runs) {
    check(run.rows * groups <= UINT32_MAX, "[pointwise] [{}, {}] has too many elements", run.rows, columns);
    cuda::launch_threads(run.rows * groups,
                         OnSteps<Kernel>{kernel, run, columns, static_cast<uint32_t>(groups)});
  }
#else
  // Each thread has columns of its own, as many as it can have: it reads long parts of rows.
  int64_t elements = 0;
  for (const int64_t count : rows) elements += count * columns;
  const int64_t registers = (columns + Vec::size - 1) / Vec::size, parts = threads();
  const int64_t width = std::clamp((registers + parts - 1) / parts, int64_t{1}, int64_t{64}) * Vec::size;
  parallel_for((columns + width - 1) / width, elements * moved >= parallel_elements, [&](int64_t block) {
    const Kernel it = kernel;  // as in run_block()
    const int64_t begin = block * width, end = std::min(begin + width, columns);
    for (const StepRun& run : runs)
      for (int64_t i = 0; i < run.steps; ++i) {
        const int64_t t = Kernel::reverse ? run.steps - 1 - i : i;
        for (int64_t b = 0; b < run.rows; ++b)
          for (int64_t column = begin; column < end; column += Vec::size) {
            const Place now = run.place(t, b, column, std::min<int64_t>(Vec::size, end - column));
            const Place before = run.place_before(t, now);
            typename Kernel::Read read = it.read(now, before);
            it.keep(now, it.finish(now, read, it.carried(now, before)));
          }
      }
  });
#endif
}

}  // namespace detail

template <class Op>
void pointwise_scan(const void* op, std::span<const int64_t> rows, int64_t columns, const Operand* inputs,
                    const Operand* outputs) {
  using Kernel = detail::ScanForward<Op>;
  detail::run_scan(rows, columns, Kernel::N + Kernel::M, forward_kernel<Kernel>(op, inputs, outputs));
}

template <class Op>
void pointwise_scan_backward(const void* op, std::span<const int64_t> rows, int64_t columns,
                             const Operand* inputs, const Operand* outputs, const Operand* output_gradients,
                             const Operand* input_gradients, const bool* accumulate) {
  using Kernel = detail::ScanBackward<Op>;
  auto kernel = backward_kernel<Kernel>(op, inputs, output_gradients, input_gradients, accumulate);
  kernel.states = outputs[Kernel::M - 1];
  kernel.carry = std::exchange(kernel.input_gradients[Op::state], {});
  kernel.accumulate[Op::state] = false;
  detail::run_scan(rows, columns, 2 * Kernel::N + Kernel::M, kernel);
}

}  // namespace
}  // namespace BACKEND
}  // namespace rondo

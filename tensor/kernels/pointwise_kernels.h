// The loops of pointwise operators, forward and backward, for any operator struct. Only .cc files include it,
// and a file of a program that has operators of its own, which may be compiled with other flags. The forward
// loop runs an operator's body on Lanes (Vec on the CPU, Scalar on CUDA); the backward loop runs the same
// body on Duals and contracts the partials with the incoming gradients, in one pass over memory. Next:
// tensor/kernels/launch.h, tensor/kernels/scan_kernels.h.
#pragma once

#include <algorithm>
#include <cstring>
#include <utility>

#include "tensor/error.h"
#include "tensor/kernels/launch.h"
#include "tensor/pointwise.h"
#include "tensor/products/bf16.h"
#include "tensor/simd/dual.h"

namespace rondo {
namespace BACKEND {
namespace {  // because Lanes is in one: tensor/simd/vec.h
namespace detail {

template <class Op, size_t... J>
constexpr bool callable_with(std::index_sequence<J...>) {
  return requires(const Op& op, const Scalar* x) { op(x[J]...); };
}

/// The number of inputs of the body: its parameters are all `auto`, so exactly one number compiles.
template <class Op, int N = 1>
constexpr int input_count() {
  static_assert(N <= max_pointwise_inputs, "an operator takes 1 to 9 inputs");
  if constexpr (callable_with<Op>(std::make_index_sequence<N>{}))
    return N;
  else
    return input_count<Op, N + 1>();
}

template <class Y>
struct OutputCount {
  static constexpr int value = 1;
};
template <class... Y>
struct OutputCount<Outputs<Y...>> {
  static constexpr int value = sizeof...(Y);
};

template <int K, class Y>
HD auto output(const Y& y) {
  if constexpr (requires { y.rest; }) {
    if constexpr (K == 0)
      return y.first;
    else
      return output<K - 1>(y.rest);
  } else if constexpr (requires { y.first; }) {
    return y.first;
  } else {
    return y;
  }
}

/// What one call of a kernel computes: on a CPU a register of elements, on a GPU as many as a thread reads at
/// once.
struct Group {
#ifdef __CUDACC__
  static constexpr int size = Piece::size;
#else
  static constexpr int size = 1;
#endif
  Lanes lanes[size];
};
/// Its members are visited by constant indices, because a GPU cannot index registers.
using GroupSequence = std::make_integer_sequence<int, Group::size>;

// The operator on element I of each input.
template <int I, class Op, size_t... J>
HD auto call(const Op& op, const Group* x, std::index_sequence<J...>) {
  return op(x[J].lanes[I]...);
}
template <int I, class Op, size_t... J>
HD auto call_on_duals(const Op& op, const Group* x, std::index_sequence<J...>) {
  return op(dual_input<J>(x[J].lanes[I])...);
}

template <class Op>
constexpr int inputs_of = input_count<Op>();
template <class Op>
using InputSequence = std::make_index_sequence<inputs_of<Op>>;
template <class Op>
constexpr int outputs_of = OutputCount<decltype(call<0>(
    std::declval<const Op&>(), std::declval<const Group*>(), InputSequence<Op>{}))>::value;

/// The position of a group of elements: it starts at `column` of `row`; `count` elements of the row, or more
/// than a group has, are there.
struct Place {
  int64_t row, column, count;
  int64_t sequence = row;  // of an operator over time

  HD Place at(int64_t other_row) const { return {other_row, column, count}; }

  HD real* pointer(const Operand& x) const { return x.data + row * x.row_stride + column; }
#ifdef __CUDACC__
  HD Group load(const Operand& x) const {
    const Piece piece = Piece::load(pointer(x), count);
    Group group;
    for (int i = 0; i < Group::size; ++i) group.lanes[i] = piece.values[i];
    return group;
  }
  HD void store(const Operand& x, const Group& group) const {
    Piece piece;
    for (int i = 0; i < Group::size; ++i) piece.values[i] = group.lanes[i].value;
    piece.store(pointer(x), count);
    if (x.rounded == nullptr) return;
    uint16_t* const to = x.rounded + row * bf16_row_stride(x.row_stride) + column;
    for (int i = 0; i < Group::size; ++i)
      if (i < count) to[i] = bf16(piece.values[i]);
  }
#else
  HD Group load(const Operand& x) const {
    return {count == Vec::size ? Vec::load(pointer(x)) : Vec::load(pointer(x), count)};
  }
  HD void store(const Operand& x, const Group& group) const {
    count == Vec::size ? group.lanes[0].store(pointer(x)) : group.lanes[0].store(pointer(x), count);
  }
  /// Skips a repeated row, which is in the caches already.
  template <int to_write = 0>
  void prefetch(const Operand& x) const {
    if (x.data && x.row_stride != 0) __builtin_prefetch(pointer(x), to_write);
  }
#endif
  /// Zeros, unless there is something.
  HD Group load_if(bool there, const Operand& x) const { return there ? load(x) : Group{}; }
};

template <class Op>
struct Forward {
  using Base = Forward;
  static constexpr int N = inputs_of<Op>, M = outputs_of<Op>;
  Op op;
  Operand inputs[N], outputs[M];

  HD void operator()(Place place) const {
    if constexpr (requires { op.stopped(); })
      if (op.stopped()) return;
    Group x[N], y[M];
    for (int j = 0; j < N; ++j) x[j] = place.load(inputs[j]);
    compute(x, y, GroupSequence{});
    for (int k = 0; k < M; ++k) place.store(outputs[k], y[k]);
  }
  template <int... I>
  HD void compute(const Group* x, Group* y, std::integer_sequence<int, I...>) const {
    (take<I>(call<I>(op, x, InputSequence<Op>{}), y, std::make_integer_sequence<int, M>{}), ...);
  }
  template <int I, class Y, int... K>
  HD static void take(const Y& of_op, Group* y, std::integer_sequence<int, K...>) {
    ((y[K].lanes[I] = output<K>(of_op)), ...);
  }
};

template <class Op>
struct Backward {
  using Base = Backward;
  static constexpr int N = inputs_of<Op>, M = outputs_of<Op>;
  Op op;
  Operand inputs[N], output_gradients[M], input_gradients[N];
  bool accumulate[N];
  /// A GPU reads all gradients that it adds to before it writes the first, so that it waits for memory once.
  static constexpr bool reads_first = Group::size > 1;

  HD void operator()(Place place) const {
    Group x[N], dy[M], dx[N];
    for (int j = 0; j < N; ++j) x[j] = place.load(inputs[j]);
    for (int k = 0; k < M; ++k) dy[k] = place.load_if(output_gradients[k].data, output_gradients[k]);
    read_gradients(place, dx);
    differentiate(place, x, dy, dx, GroupSequence{});
  }
  HD void read_gradients(Place place, Group* dx) const {
    if constexpr (reads_first)
      for (int j = 0; j < N; ++j) dx[j] = of_gradient(place, j).load_if(accumulate[j], input_gradients[j]);
  }
  /// Over time, sequences add to the gradient of a repeated row separately.
  HD Place of_gradient(Place place, int j) const {
    return inputs[j].row_stride == 0 ? place.at(place.sequence) : place;
  }
#ifndef __CUDACC__
  void prefetch(Place place) const {
    for (int j = 0; j < N; ++j) place.prefetch(inputs[j]);
    for (int k = 0; k < M; ++k) place.prefetch(output_gradients[k]);
    for (int j = 0; j < N; ++j) place.prefetch<1>(input_gradients[j]);
  }
#endif
  template <int... I>
  HD void differentiate(Place place, const Group* x, const Group* dy, Group* dx,
                        std::integer_sequence<int, I...> members) const {
    const decltype(call_on_duals<0>(op, x, InputSequence<Op>{})) y[] = {
        call_on_duals<I>(op, x, InputSequence<Op>{})...};
    contract(place, y, dy, dx, members, std::make_integer_sequence<int, N>{});
  }
  template <class Y, class Members, int... J>
  HD void contract(Place place, const Y* y, const Group* dy, Group* dx, Members members,
                   std::integer_sequence<int, J...>) const {
    (contract_one<J>(place, y, dy, dx[J], members), ...);
  }
  template <int J, class Y, int... I>
  HD void contract_one(Place place, const Y* y, const Group* dy, Group& gradient,
                       std::integer_sequence<int, I...>) const {
    if (input_gradients[J].data == nullptr) return;
    const Place to = of_gradient(place, J);
    if constexpr (!reads_first) gradient = to.load_if(accumulate[J], input_gradients[J]);
    (add_outputs<I, J>(y[I], dy, gradient.lanes[I], std::make_integer_sequence<int, M>{}), ...);
    to.store(input_gradients[J], gradient);
  }
  template <int I, int J, class Y, int... K>
  HD static void add_outputs(const Y& y, const Group* dy, Lanes& gradient, std::integer_sequence<int, K...>) {
    ((gradient = add<J>(gradient, dy[K].lanes[I], output<K>(y))), ...);
  }
  /// Partials that the type does not carry cost nothing.
  template <int J, class D>
  HD static Lanes add(Lanes gradient, Lanes dy, const D& y) {
    if constexpr ((D::mask >> J) & 1)
      return gradient + dy * partial<J>(y);
    else
      return gradient;
  }
};

#ifdef __CUDACC__
/// A thread for each group of each row. It divides 32 bits: 64 would cost as much as a gate.
template <class Kernel>
struct OnGroup {
  Kernel kernel;
  int64_t columns;
  uint32_t groups;  // of a row
  HD void operator()(int64_t i) const {
    const uint32_t row = static_cast<uint32_t>(i) / groups;
    const int64_t column = int64_t{static_cast<uint32_t>(i) - row * groups} * Group::size;
    kernel(Place{row, column, columns - column});
  }
};
#endif

/// How a launch visits its elements: in any order; as one long row, if the rows are contiguous; or, on a CPU,
/// down the columns, each column by one thread in the order of the rows, so that it can be summed.
enum class Order { any, long_row, down_columns };

#ifndef __CUDACC__
/// The place to fetch into the caches while the one at `row` and `column` is computed, because what backward
/// reads was written long before; it may lie outside. Down the columns, two rows on, which the CPU itself
/// does not foresee; else some registers on. The gradients of MultiplicativeIntegration, in a training on a
/// Zen 4, 700 units, take 1.6 us a symbol with it and 2.5 without.
inline Place place_ahead(Extent extent, Order order, int64_t row, int64_t column) {
  if (order == Order::down_columns) return {row + 2, column, 1};
  const int64_t later = column + 16 * Vec::size;
  return later < extent.columns ? Place{row, later, 1} : Place{row + 1, later - extent.columns, 1};
}

/// Columns [begin, end) of rows [first, last), one register at a time. The kernel is a copy: of a reference
/// the compiler must assume that what is written may change it.
template <class Kernel>
void run_block(const Kernel kernel, Extent extent, Order order, int64_t first, int64_t last, int64_t begin,
               int64_t end) {
  for (int64_t row = first; row < last; ++row) {
    int64_t column = begin;
    for (; column + Vec::size <= end; column += Vec::size) {
      if constexpr (requires { &Kernel::prefetch; })
        if (const Place ahead = place_ahead(extent, order, row, column);
            ahead.row < extent.rows && ahead.column < extent.columns)
          kernel.prefetch(ahead);
      kernel(Place{row, column, Vec::size});
    }
    if (column < end) kernel(Place{row, column, end - column});
  }
}
#endif

/// Runs kernel(Place) over all elements. `moved` is the number of operands that are read or written.
template <class Kernel>
void run(Extent extent, Order order, [[maybe_unused]] int moved, Kernel kernel) {
  if (order == Order::long_row) extent = {1, extent.rows * extent.columns};
  if (extent.rows == 0 || extent.columns == 0) return;
#ifdef __CUDACC__
  check(order != Order::down_columns, "[pointwise] a GPU adds up no gradient of a repeated row");
  const int64_t groups = (extent.columns + Group::size - 1) / Group::size;
  check(extent.rows * groups <= UINT32_MAX, "[pointwise] [{}, {}] has too many elements", extent.rows,
        extent.columns);
  cuda::launch_threads(extent.rows * groups,
                       OnGroup<Kernel>{kernel, extent.columns, static_cast<uint32_t>(groups)});
#else
  const bool down = order == Order::down_columns;
  const int64_t width = (down ? 8 : 64) * Vec::size;
  const int64_t blocks = (extent.columns + width - 1) / width, tasks = down ? blocks : extent.rows * blocks;
  const int64_t rows = down ? extent.rows : 1;  // per task
  parallel_for(tasks, extent.rows * extent.columns * moved >= parallel_elements, [&](int64_t task) {
    const int64_t first = task / blocks, begin = task % blocks * width;
    const int64_t end = begin + width < extent.columns ? begin + width : extent.columns;
    run_block(kernel, extent, order, first, first + rows, begin, end);
  });
#endif
}

/// Whether all rows of the operands follow each other, also the rounded ones.
inline bool contiguous(Extent extent, const Operand* operands, int count) {
  const bool rounded_follow = bf16_row_stride(extent.columns) == extent.columns;
  for (int j = 0; j < count; ++j)
    if (operands[j].data &&
        (operands[j].row_stride != extent.columns || (operands[j].rounded && !rounded_follow)))
      return false;
  return true;
}

}  // namespace detail

template <class Kernel>
Kernel forward_kernel(const void* op, const Operand* inputs, const Operand* outputs) {
  Kernel kernel;
  std::memcpy(static_cast<void*>(&kernel.op), op, sizeof kernel.op);
  std::copy_n(inputs, Kernel::Base::N, kernel.inputs);
  std::copy_n(outputs, Kernel::Base::M, kernel.outputs);
  return kernel;
}
template <class Kernel>
Kernel backward_kernel(const void* op, const Operand* inputs, const Operand* output_gradients,
                       const Operand* input_gradients, const bool* accumulate) {
  Kernel kernel;
  std::memcpy(static_cast<void*>(&kernel.op), op, sizeof kernel.op);
  std::copy_n(inputs, Kernel::Base::N, kernel.inputs);
  std::copy_n(output_gradients, Kernel::Base::M, kernel.output_gradients);
  std::copy_n(input_gradients, Kernel::Base::N, kernel.input_gradients);
  std::copy_n(accumulate, Kernel::Base::N, kernel.accumulate);
  return kernel;
}

template <class Op>
void pointwise_forward(const void* op, Extent extent, const Operand* inputs, const Operand* outputs) {
  using Kernel = detail::Forward<Op>;
  const Kernel kernel = forward_kernel<Kernel>(op, inputs, outputs);
  const bool long_row = extent.rows == 1 || (detail::contiguous(extent, inputs, Kernel::N) &&
                                             detail::contiguous(extent, outputs, Kernel::M));
  detail::run(extent, long_row ? detail::Order::long_row : detail::Order::any, Kernel::N + Kernel::M, kernel);
}

template <class Op>
void pointwise_backward(const void* op, Extent extent, const Operand* inputs, const Operand* output_gradients,
                        const Operand* input_gradients, const bool* accumulate) {
  using Kernel = detail::Backward<Op>;
  const Kernel kernel = backward_kernel<Kernel>(op, inputs, output_gradients, input_gradients, accumulate);
  bool adds_up = false;  // the gradient of a repeated row
  for (int j = 0; j < Kernel::N; ++j)
    adds_up |= extent.rows > 1 && input_gradients[j].data && input_gradients[j].row_stride == 0;
  const bool long_row = extent.rows == 1 || (detail::contiguous(extent, inputs, Kernel::N) &&
                                             detail::contiguous(extent, output_gradients, Kernel::M) &&
                                             detail::contiguous(extent, input_gradients, Kernel::N));
  const detail::Order order = adds_up    ? detail::Order::down_columns
                              : long_row ? detail::Order::long_row
                                         : detail::Order::any;
  detail::run(extent, order, 2 * Kernel::N + Kernel::M, kernel);
}

}  // namespace
}  // namespace BACKEND
}  // namespace rondo

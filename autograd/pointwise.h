// From an operator struct to a function on Variables: y = pointwise(Tanh{}, x). The loops are in
// tensor/kernels/pointwise_kernels.h, the operators in autograd/operators.h.
#pragma once

#include <deque>
#include <vector>

#include "autograd/variable.h"
#include "tensor/pointwise.h"

namespace rondo {

/// All operators that can be launched: Rondo's and those added. Entries never move, because histories point
/// to them.
const std::deque<PointwiseOperator>& pointwise_operators();
/// Adds the list of another program, as made by `cpu::operator_entries(OperatorList<...>{})`. Throws Error if
/// a name is known already or an operator does not give its known values.
void add_pointwise_operators(std::vector<PointwiseOperator> operators);

/// The number of rows of each time step, never more than in the step before: the rows of all steps follow
/// each other, and those of a step are of the first sequences.
using StepRows = std::vector<int64_t>;

/// y = op(x...) for an operator of the list, whose bytes are at `bytes`. The inputs are matrices of the
/// same shape; a vector [columns] is repeated for all rows. The first output is written to `out`, a matrix
/// like the inputs that nobody else uses, if it is defined. Throws Error on other shapes.
/// With `rows`, over time: the input Op::state, a row for each sequence, is the state before the first step,
/// and then the last output of the step before. One pass computes all steps, on a GPU one launch for steps of
/// equal numbers of rows; the values equal those of the steps one by one.
std::vector<Variable> apply(const PointwiseOperator& op, const void* bytes,
                            const std::vector<Variable>& inputs, const Tensor& out = {},
                            const StepRows& rows = {});

namespace detail {
const PointwiseOperator& find_operator(const char* name);
/// Throws Error if an operator does not give its known values, relative where they are above 1: the gradient
/// check, which follows the formula, passes a wrong constant. The default allows for values with few digits.
void compare_known_values(const PointwiseOperator& op, double tolerance = sizeof(real) == 8 ? 1e-8 : 1e-4);
}  // namespace detail

/// Over time, for an operator struct that has a state.
template <class Op, class... V>
std::vector<Variable> scan_into(const Tensor& out, const StepRows& rows, const Op& op, const V&... inputs) {
  static_assert(
      requires { Op::state; }, "an operator over time says which input is its state");
  static const PointwiseOperator& entry = detail::find_operator(Op::name);
  return apply(entry, &op, {inputs...}, out, rows);
}

/// The same for an operator struct; all its outputs.
template <class Op, class... V>
std::vector<Variable> pointwise_outputs_into(const Tensor& out, const Op& op, const V&... inputs) {
  static const PointwiseOperator& entry = detail::find_operator(Op::name);
  return apply(entry, &op, {inputs...}, out);
}
template <class Op, class... V>
std::vector<Variable> pointwise_outputs(const Op& op, const V&... inputs) {
  return pointwise_outputs_into({}, op, inputs...);
}
/// The first output.
template <class Op, class... V>
Variable pointwise(const Op& op, const V&... inputs) {
  return pointwise_outputs(op, inputs...)[0];
}
template <class Op, class... V>
Variable pointwise_into(const Tensor& out, const Op& op, const V&... inputs) {
  return pointwise_outputs_into(out, op, inputs...)[0];
}

}  // namespace rondo

// Pointwise operators as the rest of the library sees them: a name, a domain and two launchers per backend.
// Formulas: autograd/operators.h, optim/updates.h. Loops: tensor/kernels/pointwise_kernels.h.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tensor/backend.h"
#include "tensor/lists.h"

namespace rondo {

/// Several results of one operator: `return outputs(h, c);`.
template <class First, class... Rest>
struct Outputs {
  First first;
  Outputs<Rest...> rest;
};
template <class First>
struct Outputs<First> {
  First first;
};
template <class First>
HD Outputs<First> outputs(First first) {
  return {first};
}
template <class First, class Second, class... Rest>
HD Outputs<First, Second, Rest...> outputs(First first, Second second, Rest... rest) {
  return {first, outputs(second, rest...)};
}

/// The interval from which tests draw inputs; an operator that is not smooth everywhere narrows it.
struct Domain {
  double low = -2;
  double high = 2;
};

constexpr int max_pointwise_inputs = 9;
constexpr int max_pointwise_outputs = 4;

/// What an operator gives for these inputs, worked out by hand or by another program: a derivative cannot
/// tell that a constant of the formula is wrong.
struct KnownValue {
  double inputs[max_pointwise_inputs];
  double outputs[max_pointwise_outputs];
};

/// y = op(x...) element by element.
using PointwiseForward = void (*)(const void* op, Extent extent, const Operand* inputs,
                                  const Operand* outputs);

/// input_gradients[j] (+)= sum over k of output_gradients[k] * dy_k/dx_j. A null output gradient is
/// zero; a null input gradient is not written; accumulate[j] says whether to add to the present value. With
/// row stride 0, on a CPU alone, it must be true, and the rows are added in order. An input gradient may
/// overwrite its input, but no two overlap.
using PointwiseBackward = void (*)(const void* op, Extent extent, const Operand* inputs,
                                   const Operand* output_gradients, const Operand* input_gradients,
                                   const bool* accumulate);

/// The same over time: input `state` of the operator is its last output one step before. Step t has rows[t]
/// rows, those of the first sequences, never more than the step before; the rows of all steps follow each
/// other. In the first step the state is at inputs[state], a row for each sequence.
using PointwiseScan = void (*)(const void* op, std::span<const int64_t> rows, int64_t columns,
                               const Operand* inputs, const Operand* outputs);

/// Its backward; the last of `outputs` are the states of all steps. At input_gradients[state], a row for each
/// sequence, are zeros, and then the gradient of the first state. A gradient of a repeated row is added to:
/// on a CPU to one row, on a GPU to one for each sequence.
using PointwiseScanBackward = void (*)(const void* op, std::span<const int64_t> rows, int64_t columns,
                                       const Operand* inputs, const Operand* outputs,
                                       const Operand* output_gradients, const Operand* input_gradients,
                                       const bool* accumulate);

struct PointwiseLaunchers {
  PointwiseForward forward = nullptr;
  PointwiseBackward backward = nullptr;
  // They are null if the operator has no state.
  PointwiseScan scan = nullptr;
  PointwiseScanBackward scan_backward = nullptr;
};

/// One entry of a list of operators.
struct PointwiseOperator {
  std::string name;
  int inputs = 0;
  int outputs = 0;
  int state = -1;  // the input that is the last output of the step before; -1: none
  Domain domain;
  std::string equation;            // its documentation row
  std::string arguments;           // the names that the equation gives its inputs; may be empty
  std::vector<KnownValue> known;   // two or more, for the tests
  std::vector<std::byte> example;  // a default-constructed operator, for the tests
  PointwiseLaunchers cpu, cuda;

  /// Those of a device; they do nothing where there is no memory. Throws Error if it was not built for the
  /// device.
  const PointwiseLaunchers& launchers(Device device) const;
};

/// Adds the launchers of the CUDA pass to a list; both lists have the same operators in the same order.
inline void add_launchers(std::vector<PointwiseOperator>& operators,
                          const std::vector<PointwiseOperator>& of_cuda) {
  for (std::size_t i = 0; i < operators.size(); ++i) operators[i].cuda = of_cuda[i].cuda;
}

/// A list of operator types. Rondo's are at the end of each file of autograd/operators/; a program may have
/// its own.
template <class... Ops>
struct OperatorList {};

}  // namespace rondo

// The entries of a list of operators hold each one's loops, as the current pass compiles them. Only .cc files
// include this header, and a file of a program that has operators of its own, which may be compiled with
// other flags. Next: tensor/kernels/pointwise_kernels.h.
#pragma once

#include <cstring>
#include <iterator>
#include <type_traits>
#include <vector>

#include "tensor/kernels/pointwise_kernels.h"
#include "tensor/kernels/scan_kernels.h"

namespace rondo {
namespace BACKEND {
namespace {

/// The entries of a list, with the launchers of the current pass.
template <class... Ops>
std::vector<PointwiseOperator> operator_entries(OperatorList<Ops...>) {
  auto entry = []<class Op>([[maybe_unused]] Op op) {
    static_assert(std::is_trivially_copyable_v<Op>, "an operator is a small struct of numbers");
    PointwiseOperator it;
    it.name = Op::name;
    it.inputs = detail::inputs_of<Op>;
    it.outputs = detail::outputs_of<Op>;
    if constexpr (requires { Op::domain; }) it.domain = Op::domain;
    it.equation = Op::equation;
    if constexpr (requires { Op::arguments; }) it.arguments = Op::arguments;
    if constexpr (requires { Op::known; }) it.known.assign(std::begin(Op::known), std::end(Op::known));
    it.example.resize(sizeof(Op));
    if constexpr (!std::is_empty_v<Op>) std::memcpy(it.example.data(), &op, sizeof(Op));
    it.BACKEND.forward = pointwise_forward<Op>;
    if constexpr (requires { Op::state; }) {
      it.state = Op::state;
      it.BACKEND.scan = pointwise_scan<Op>;
    }
#ifndef RONDO_INFERENCE_ALONE
    it.BACKEND.backward = pointwise_backward<Op>;
    if constexpr (requires { Op::state; }) it.BACKEND.scan_backward = pointwise_scan_backward<Op>;
#endif
    return it;
  };
  return {entry(Ops{})...};
}

}  // namespace
}  // namespace BACKEND
}  // namespace rondo

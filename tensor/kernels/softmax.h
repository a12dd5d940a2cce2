// Kernels of softmax and of the losses that use it, row by row.
#pragma once

#include "tensor/kernels/kernel.h"
#include "tensor/products/bf16.h"

namespace rondo {

namespace detail {

/// The logarithm of a sum, as the largest exponent and the rest, which is small: log(sum(exp(x))) is their
/// sum.
struct LogSumExp {
  real largest, rest;
  HD real value() const { return largest + rest; }
};
/// log(sum(exp(x))) of the kept elements x of a row, shifted by their maximum so that nothing overflows.
HD LogSumExp log_sum_exp_of(auto row, const auto& x) {
  const real largest = x.maximum();
  const auto shift = row.repeated(largest);
  return {largest, log(Scalar(x.sum([=](auto v) { return exp(v - shift); }))).value};
}

/// Writes row r of x, which is complete, once more where products read it.
HD void round_row(auto row, const Operand& x, int64_t r) {
  if (x.rounded == nullptr) return;  // the same for all threads
  row.wait();
  const real* from = row_of(x, r);
  uint16_t* to = x.rounded + r * bf16_row_stride(x.row_stride);
  row.for_each([=](int64_t j) { to[j] = bf16(from[j]); });
}

}  // namespace detail

struct Softmax {
  static constexpr auto visit = Visit::rows;
  Operand x, y;
  HD void operator()(auto row, int64_t r) const {
    const auto from = row.keep(row_of(x, r));
    const auto shift = row.repeated(detail::log_sum_exp_of(row, from).value());
    from.map(row_of(y, r), [=](auto v) { return exp(v - shift); });
  }
};

/// dx = y * (dy - sum(dy * y)).
struct SoftmaxBackward {
  static constexpr auto visit = Visit::rows;
  Operand y, dy, dx;
  HD void operator()(auto row, int64_t r) const {
    const auto inner =
        row.repeated(row.sum([](auto a, auto b) { return a * b; }, row_of(y, r), row_of(dy, r)));
    row.map(
        row_of(dx, r), [=](auto v, auto dv) { return v * (dv - inner); }, row_of(y, r), row_of(dy, r));
  }
};

/// Softmax over the first lengths[r / rows_a_length] columns of row r; the other columns of y become zero,
/// whatever x contains there.
struct MaskedSoftmax {
  static constexpr auto visit = Visit::rows;
  Operand x;
  const int32_t* lengths;
  int64_t rows_a_length;
  Operand y;
  HD void operator()(auto row, int64_t r) const {
    const int64_t length = lengths[r / rows_a_length];
    const auto counted = row.with_columns(length);
    const real* from = row_of(x, r);
    real* to = row_of(y, r);
    if (length > 0) {  // the same for all threads
      const auto shift = row.repeated(counted.maximum(from));
      const auto total = row.repeated(counted.sum([=](auto v) { return exp(v - shift); }, from));
      counted.map(
          to, [=](auto v) { return exp(v - shift) / total; }, from);
    }
    fill_row(row.with_columns(row.columns - length), to + length, 0);
  }
};

/// The same as SoftmaxBackward over these columns; the other columns of dx become zero.
struct MaskedSoftmaxBackward {
  static constexpr auto visit = Visit::rows;
  Operand y, dy;
  const int32_t* lengths;
  int64_t rows_a_length;
  Operand dx;
  HD void operator()(auto row, int64_t r) const {
    const int64_t length = lengths[r / rows_a_length];
    SoftmaxBackward{y, dy, dx}(row.with_columns(length), r);
    fill_row(row.with_columns(row.columns - length), row_of(dx, r) + length, 0);
  }
};

struct LogSoftmax {
  static constexpr auto visit = Visit::rows;
  Operand x, y;
  HD void operator()(auto row, int64_t r) const {
    const auto from = row.keep(row_of(x, r));
    const auto shift = row.repeated(detail::log_sum_exp_of(row, from).value());
    from.map(row_of(y, r), [=](auto v) { return v - shift; });
  }
};

/// dx = dy - exp(y) * sum(dy).
struct LogSoftmaxBackward {
  static constexpr auto visit = Visit::rows;
  Operand y, dy, dx;
  HD void operator()(auto row, int64_t r) const {
    const auto total = row.repeated(row.sum([](auto dv) { return dv; }, row_of(dy, r)));
    row.map(
        row_of(dx, r), [=](auto v, auto dv) { return dv - exp(v) * total; }, row_of(y, r), row_of(dy, r));
  }
};

/// loss[r] = log_sum_exp[r] - x[r, target], where rows_a_target rows share a target; one below 0 gives loss 0
/// and no gradient.
struct LogitsCrossEntropy {
  static constexpr auto visit = Visit::rows;
  Operand x;
  const int32_t* targets;
  int64_t rows_a_target;
  real *log_sum_exp, *loss;
  HD void operator()(auto row, int64_t r) const {
    const int32_t target = targets[r / rows_a_target];
    const real* from = row_of(x, r);
    real total = 0, nats = 0;
    if (target >= 0) {  // the same for all threads
      const detail::LogSumExp of_row = detail::log_sum_exp_of(row, row.keep(from));
      total = of_row.value();
      nats = of_row.rest + (of_row.largest - from[target]);
    }
    if (!row.first()) return;
    log_sum_exp[r] = total;
    loss[r] = nats;
  }
};

/// dx[r] = dloss[r] * (exp(x[r] - log_sum_exp[r]) - onehot(target)). dx may be x.
struct LogitsCrossEntropyBackward {
  static constexpr auto visit = Visit::rows;
  Operand x;
  const int32_t* targets;
  int64_t rows_a_target;
  const real *log_sum_exp, *dloss;
  Operand dx;
  HD void operator()(auto row, int64_t r) const {
    const int32_t target = targets[r / rows_a_target];
    if (target < 0) {
      fill_row(row, row_of(dx, r), 0);
      return detail::round_row(row, dx, r);
    }
    const auto shift = row.repeated(log_sum_exp[r]);
    const auto factor = row.repeated(dloss[r]);
    row.map(
        row_of(dx, r), [=](auto v) { return factor * exp(v - shift); }, row_of(x, r));
    if (row.owns(target)) row_of(dx, r)[target] -= dloss[r];
    detail::round_row(row, dx, r);
  }
};

/// loss[r] = log_sum_exp(x[r]) - x[r, target[r]]; a target below 0 gives loss 0 and no gradient. If
/// `differentiates`, x is replaced by its gradient: x[r] = softmax(x[r]) - onehot(target[r]). With smoothing,
/// `smoothed` gets the loss with smoothed labels, loss[r] + smoothing * (x[r, target[r]] - mean(x[r])), and
/// the gradient is that of this loss: onehot(target[r]) becomes (1 - smoothing) * onehot(target[r]) +
/// smoothing / columns.
struct CrossEntropyInPlace {
  static constexpr auto visit = Visit::rows;
  Operand x;
  const int32_t* targets;
  bool differentiates;
  real* loss;
  real smoothing;  // 0: none
  real* smoothed;  // not used without smoothing
  HD void operator()(auto row, int64_t r) const {
    real* to = row_of(x, r);
    const int32_t target = targets[r];
    if (target < 0) {  // the same for all threads
      if (row.first()) loss[r] = 0;
      if (row.first() && smoothing > 0) smoothed[r] = 0;
      if (!differentiates) return;
      fill_row(row, to, 0);
      return detail::round_row(row, x, r);
    }
    const real at_target = to[target];  // read before any thread writes: maximum() is a barrier
    auto logits = row.keep(to);
    const real sum = smoothing > 0 ? logits.sum([](auto v) { return v; }) : real(0);
    const real largest = logits.maximum();
    const auto shift = row.repeated(largest);
    const auto shifted_exp = [=](auto v) { return exp(v - shift); };
    const real total = differentiates ? logits.replace_and_sum(to, shifted_exp) : logits.sum(shifted_exp);
    const auto V = static_cast<real>(row.columns);
    if (row.first()) {
      loss[r] = log(Scalar(total)).value + (largest - at_target);
      if (smoothing > 0) smoothed[r] = loss[r] + smoothing * (at_target - sum / V);
    }
    if (!differentiates) return;
    const auto factor = row.repeated(1 / total), everywhere = row.repeated(smoothing / V);
    logits.map(to, [=](auto v) { return v * factor - everywhere; });
    if (row.owns(target)) to[target] -= 1 - smoothing;
    detail::round_row(row, x, r);
  }
};

/// posterior[r] = softmax(log_prior[r] - loss[r]), with the loss of each expert; mixed[r] = -log of the
/// sum of exp(log_prior[r] - loss[r]). For a target below 0 both are 0.
struct MixtureLoss {
  static constexpr auto visit = Visit::rows;
  const int32_t* targets;
  Operand log_prior, loss, posterior;
  real* mixed;
  HD void operator()(auto row, int64_t r) const {
    real* to = row_of(posterior, r);
    if (targets[r] < 0) {  // the same for all threads
      fill_row(row, to, 0);
      if (row.first()) mixed[r] = 0;
      return;
    }
    row.map(
        to, [](auto prior, auto nats) { return prior - nats; }, row_of(log_prior, r), row_of(loss, r));
    const auto joints = row.keep(to);
    const real log_sum = detail::log_sum_exp_of(row, joints).value();
    const auto shift = row.repeated(log_sum);
    joints.map(to, [=](auto joint) { return exp(joint - shift); });
    if (row.first()) mixed[r] = -log_sum;
  }
};

using SoftmaxKernels =
    KernelList<Softmax, SoftmaxBackward, MaskedSoftmax, MaskedSoftmaxBackward, LogSoftmax, LogSoftmaxBackward,
               LogitsCrossEntropy, LogitsCrossEntropyBackward, CrossEntropyInPlace, MixtureLoss>;

}  // namespace rondo

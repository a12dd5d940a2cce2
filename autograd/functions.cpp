// Operators that mix elements. Each defines its backward beside its forward.
#include "autograd/functions.h"

#include "autograd/operators/arithmetic.h"
#include "tensor/kernels/kernels.h"
#include "tensor/profile.h"
#include "tensor/tensor.h"

namespace rondo {

Variable gather_rows(const Variable& x, const Tokens& rows) {
  check_indices("gather_rows", "row", *rows, 0, x.value().rows());
  const Tensor y = Tensor::for_products({std::ssize(*rows), x.shape().columns()}, x.value().device());
  gather_rows(x.value(), *rows, y);
  return record("gather_rows", y, {x}, [rows](const std::vector<Tensor>& gradients, const Inputs& in) {
    in[0].add_rows(rows, gradients[0]);
  });
}

Variable embedding(const Variable& table, const Tokens& ids) {
  check(table.shape().dimensions() == 2, "[embedding] the table is [V, E], got {}", table.shape());
  check_indices("embedding", "token id", *ids, 0, table.shape()[0]);
  return gather_rows(table, ids);
}

Variable one_hot(const Tokens& ids, int64_t V, Device device) {
  check_indices("one_hot", "token id", *ids, 0, V);
  const Tensor y({std::ssize(*ids), V}, device);
  launch(device, y.extent(), OneHot{ids->on(device), y.write_operand()});
  return y;
}

Variable concat(const std::vector<Variable>& parts) {
  check(!parts.empty(), "[concat] needs at least one part");
  std::vector<int64_t> ends;
  for (const Variable& part : parts) {
    check(part.value().rows() == parts[0].value().rows(),
          "[concat] the rows must agree: {} and {} (concat_rows puts one below the other)", part.shape(),
          parts[0].shape());
    ends.push_back((ends.empty() ? 0 : ends.back()) + part.shape().columns());
  }
  // First, because it throws the Error of an undefined part.
  const Device device = parts[0].value().device();
  const Tensor y(parts[0].shape().with_columns(ends.back()), device);
  const auto place = [ends](const Tensor& whole, size_t i) {
    return whole.slice_columns(i == 0 ? 0 : ends[i - 1], ends[i]);
  };
  for (size_t i = 0; i < parts.size(); ++i) copy(parts[i].value(), place(y, i));
  return record("concat", y, parts, [place](const std::vector<Tensor>& gradients, const Inputs& in) {
    for (size_t i = 0; i < in.size(); ++i) in[i].add(place(gradients[0], i));
  });
}

namespace {
/// All rows of the parts, in `shape`.
Variable rows_of_all(const char* name, const std::vector<Variable>& parts, const Shape& shape) {
  std::vector<Tensor> values;
  std::vector<int64_t> ends;
  for (const Variable& part : parts) {
    values.push_back(part.value());
    ends.push_back((ends.empty() ? 0 : ends.back()) + part.value().rows());
  }
  return record(name, stacked_rows(values).reshaped(shape), parts,
                [ends](const std::vector<Tensor>& gradients, const Inputs& in) {
                  // As parts, so that what else flows back into one of them is added where it lies.
                  for (size_t i = 0; i < in.size(); ++i)
                    in[i].add(gradients[0].slice_rows(i == 0 ? 0 : ends[i - 1], ends[i]).as_part());
                });
}
}  // namespace

Variable stack(const std::vector<Variable>& parts) {
  check(!parts.empty(), "[stack] needs at least one part");
  const Shape& part_shape = parts[0].shape();
  for (const Variable& part : parts)
    check(part.shape() == part_shape, "[stack] the shapes must agree: {} after {}", part.shape(), part_shape);
  return rows_of_all("stack", parts, part_shape.with_leading(std::ssize(parts)));
}

Variable concat_rows(const std::vector<Variable>& parts) {
  check(!parts.empty(), "[concat_rows] needs at least one part");
  const int64_t columns = parts[0].shape().columns();
  int64_t rows = 0;
  for (const Variable& part : parts) {
    check(part.shape().columns() == columns, "[concat_rows] the columns must agree: {} after {}",
          part.shape(), parts[0].shape());
    rows += part.value().rows();
  }
  return rows_of_all("concat_rows", parts, {rows, columns});
}

Variable scale_rows(const Variable& x, const Tensor& factors) {
  check(factors.shape() == Shape{x.value().rows()}, "[scale_rows] x {} needs factors [{}], got {}", x.shape(),
        x.value().rows(), factors.shape());
  check_one_device("scale_rows", x.value(), factors);
  const auto scaled = [](const Tensor& from, const Tensor& by) {
    const Tensor y(from.shape(), from.device());
    launch(y.device(), y.extent(), ScaleRows{from.read_operand(), by.data(), y.write_operand()});
    return y;
  };
  return record_unary(
      "scale_rows", scaled(x.value(), factors), x,
      [scaled, factors = Saved(factors)](const Tensor& dy) { return scaled(dy, factors.get("scale_rows")); });
}

Variable reshape(const Variable& x, Shape shape) {
  const auto reshaped = [](const Tensor& from, const Shape& to) {  // rows of one width may keep their gaps
    return (to.columns() == from.columns() ? from : contiguous(from)).reshaped(to);
  };
  return record_unary("reshape", reshaped(x.value(), shape), x,
                      [=, from = x.shape()](const Tensor& dy) { return reshaped(dy, from); });
}

Variable scan(const Variable& a, const Variable& b, const Variable& h0) {
  const Shape& shape = a.shape();
  check(shape.dimensions() == 3 && b.shape() == shape, "[scan] a and b are [T, B, H], got {} and {}", shape,
        b.shape());
  const Shape rows = {shape.rows(), shape.columns()};
  const StepRows steps(static_cast<size_t>(shape[0]), shape[1]);
  return reshape(scan_into({}, steps, LinearRecurrence{}, reshape(a, rows), reshape(b, rows), h0)[0], shape);
}

Variable sum(const Variable& x) {
  const Tensor y = Tensor::filled({1}, static_cast<real>(sum(x.value())), x.value().device());
  return record_unary("sum", y, x, [shape = x.shape()](const Tensor& dy) {
    return Tensor::filled(shape, dy.item(), dy.device());
  });
}

Variable mean(const Variable& x) { return sum(x) * (real(1) / static_cast<real>(x.value().size())); }

namespace {
/// y = Forward(x), whose gradient needs y alone.
template <class Forward, class BackwardKernel>
Variable softmax_by(const char* name, const Variable& x) {
  const Tensor y(x.shape(), x.value().device());
  launch(y.device(), y.extent(), Forward{x.value().read_operand(), y.write_operand()});
  return record_unary(name, y, x, [name, y = Saved(y)](const Tensor& dy) {
    const Tensor dx(dy.shape(), dy.device());
    launch(dx.device(), dx.extent(),
           BackwardKernel{y.get(name).read_operand(), dy.read_operand(), dx.write_operand()});
    return dx;
  });
}
}  // namespace

Variable softmax(const Variable& x) { return softmax_by<Softmax, SoftmaxBackward>("softmax", x); }
Variable log_softmax(const Variable& x) {
  return softmax_by<LogSoftmax, LogSoftmaxBackward>("log_softmax", x);
}

Variable cross_entropy(const Variable& logits, const Tokens& targets) {
  const int64_t N = logits.value().rows(), V = logits.shape().columns();
  check(static_cast<int64_t>(targets->size()) == N, "[cross_entropy] logits {} need {} targets, got {}",
        logits.shape(), N, targets->size());
  check_indices("cross_entropy", "target", *targets, -1, V);
  const Device device = logits.value().device();
  const Tensor log_sum_exp({N}, device), loss({N}, device);
  {
    const Timed timed("softmax", [] { return std::string("cross_entropy"); });
    launch(device, logits.value().extent(),
           LogitsCrossEntropy{logits.value().read_operand(), targets->on(device), 1,
                              log_sum_exp.mutable_data(), loss.mutable_data()});
  }
  const auto gradient = [logits = Saved(logits.value()), targets, log_sum_exp, device](const Tensor& dy) {
    const Tensor& x = logits.get("cross_entropy");
    const Tensor dx(x.shape(), x.device()), dloss = contiguous(dy);
    const Timed timed("softmax", [] { return std::string("cross_entropy backward"); });
    launch(x.device(), x.extent(),
           LogitsCrossEntropyBackward{x.read_operand(), targets->on(device), 1, log_sum_exp.data(),
                                      dloss.data(), dx.write_operand()});
    return dx;
  };
  return record_unary("cross_entropy", loss, logits, gradient);
}

Variable dropout(const Variable& x, DropRate probability, RandomKey key, BatchSlice slice) {
  if (probability == 0) return x;
  const Tensor y(x.shape(), x.value().device());
  drop(x.value(), key, probability, slice, false, y);
  return record("dropout", y, {x}, [=](const std::vector<Tensor>& gradients, const Inputs& in) {
    if (!in[0].wanted()) return;
    const auto [dx, accumulate] = in[0].destination();
    drop(gradients[0], key, probability, slice, accumulate, dx);  // by the same random words
  });
}

}  // namespace rondo
